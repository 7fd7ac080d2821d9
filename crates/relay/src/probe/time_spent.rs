//! What a TCP sender waited for, as seen from above the socket.

use serde::Serialize;

/// What a sender waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// The connection.
    Handshake,
    /// The application: all that it gave was sent.
    Application,
    /// Room in the window that we keep ourselves, or in the socket's buffer: all that is in the socket was sent.
    Window,
    /// The kernel, which holds data back for the congestion window, for the window that the receiver advertises, or for
    /// pacing.
    Kernel,
}

/// How long it waited for what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TimeSpent {
    /// Not connected yet.
    pub handshake_s: f64,
    /// Nothing to send.
    pub application_s: f64,
    /// At the window that we keep, or at the socket's buffer.
    pub window_s: f64,
    /// With data that the kernel held back.
    pub kernel_s: f64,
}

/// Adds up time from one look at a sender to the next.
#[derive(Clone, Copy, Debug)]
pub struct Accounting {
    spent: TimeSpent,
    since_ns: i64,
    waiting: Waiting,
}

impl Accounting {
    /// From the start on.
    pub fn new(start_ns: i64) -> Self {
        Self { spent: TimeSpent::default(), since_ns: start_ns, waiting: Waiting::Handshake }
    }

    /// At `now` it begins to wait for something else, or continues to.
    pub fn look(&mut self, now: i64, waiting: Waiting) {
        let seconds = (now - self.since_ns).max(0) as f64 / 1e9;
        *match self.waiting {
            Waiting::Handshake => &mut self.spent.handshake_s,
            Waiting::Application => &mut self.spent.application_s,
            Waiting::Window => &mut self.spent.window_s,
            Waiting::Kernel => &mut self.spent.kernel_s,
        } += seconds;
        (self.since_ns, self.waiting) = (now, waiting);
    }

    /// What was waited for until `now`.
    pub fn until(mut self, now: i64) -> TimeSpent {
        self.look(now, self.waiting);
        self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::{Accounting, TimeSpent, Waiting};

    #[test]
    fn shares_add_up_to_all_of_the_time() {
        let mut accounting = Accounting::new(1_000_000_000);
        for (seconds, waiting) in
            [(2, Waiting::Kernel), (5, Waiting::Window), (6, Waiting::Window), (9, Waiting::Application)]
        {
            accounting.look(seconds * 1_000_000_000, waiting);
        }
        let spent = accounting.until(10_000_000_000);
        assert_eq!(spent, TimeSpent { handshake_s: 1.0, kernel_s: 3.0, window_s: 4.0, application_s: 1.0 });
    }
}
