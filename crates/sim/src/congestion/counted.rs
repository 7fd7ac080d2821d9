//! Growth in whole packets, as Linux has it.

use super::Window;

/// What was acknowledged toward the next packet of the window: snd_cwnd_cnt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted(u64);

impl Counted {
    /// One packet for each `every` acknowledged (tcp_cong_avoid_ai).
    pub(super) fn grow(&mut self, window: &mut Window, acked: f64, every: u64) {
        if self.0 >= every {
            self.0 = 0;
            window.cwnd += 1.0;
        }
        self.0 += acked as u64;
        if self.0 >= every {
            window.cwnd += (self.0 / every) as f64;
            self.0 %= every;
        }
    }

    /// The window was reduced.
    pub(super) fn reset(&mut self) {
        self.0 = 0;
    }
}

/// Slow start up to the threshold (tcp_slow_start): what is acknowledged beyond it, of which the window grows as from there on.
pub(super) fn slow_start(window: &mut Window, acked: f64) -> Option<f64> {
    if !window.in_slow_start() {
        return Some(acked);
    }
    let room = window.ssthresh - window.cwnd;
    if acked <= room {
        window.slow_start(acked);
        return None;
    }
    window.cwnd = window.ssthresh;
    Some(acked - room)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 7 packets grows with the seventh, and by what an ACK of many leaves over.
    #[test]
    fn a_window_grows_when_all_of_it_is_acknowledged() {
        let (mut counted, mut window) = (Counted::default(), Window { cwnd: 7.0, ssthresh: 7.0 });
        let mut after = |acked: f64| {
            let every = window.cwnd as u64;
            counted.grow(&mut window, acked, every);
            window.cwnd
        };
        assert_eq!([2.0, 2.0, 2.0, 1.0].map(&mut after), [7.0, 7.0, 7.0, 8.0]);
        assert_eq!([20.0, 4.0, 1.0].map(&mut after), [10.0, 10.0, 10.0]);
        assert_eq!(after(1.0), 11.0);
    }

    #[test]
    fn slow_start_ends_at_the_threshold() {
        let mut window = Window { cwnd: 6.0, ssthresh: 8.0 };
        assert_eq!(slow_start(&mut window, 1.0), None);
        assert_eq!(slow_start(&mut window, 3.0), Some(2.0));
        assert_eq!((window.cwnd, slow_start(&mut window, 3.0)), (8.0, Some(3.0)));
    }
}
