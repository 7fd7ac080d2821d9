//! What a line could do, and what it did of that.

use super::line::Line;

/// What a link could have sent until an instant, and what it sent: bits, or seconds of a medium.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// What it sent.
    pub done: f64,
    /// What it could have sent.
    pub possible: f64,
    /// Both are bits.
    pub in_bits: bool,
}

/// Looks at a line from the past to the future, behind what is granted.
#[derive(Clone, Debug)]
pub struct Account {
    line: Line,
    bits: f64,
    at_s: f64,
    offered: f64,
}

impl Account {
    /// Of a line at its beginning, if what it can do changes.
    #[must_use]
    pub fn of(line: &Line) -> Option<Self> {
        let bits = line.capacity.bits().filter(|_| line.varies())?;
        Some(Self { line: line.clone(), bits, at_s: 0.0, offered: 0.0 })
    }

    /// Looks on until `at_s`: the bits that could have been sent until then.
    pub fn offered(&mut self, at_s: f64) -> f64 {
        if at_s > self.at_s {
            self.offered += self.line.offered(self.at_s, at_s);
            self.at_s = at_s;
        }
        self.bits * self.offered
    }

    /// Bits of what was granted that are sent from `at_s` on, where it is until then and all of it has left at
    /// `departure_s`: without a gap.
    fn ahead(&self, departure_s: f64, left_over: f64) -> f64 {
        if departure_s < self.at_s {
            return 0.0;
        }
        // What leaves at the same instant as the last packet does so, too.
        (self.bits * (self.line.clone().offered(self.at_s, departure_s.next_up()) - left_over)).max(0.0)
    }

    /// What was done and what was possible until `at_s`, of what `line` has granted, all of which has left at `departure_s`.
    pub fn work(&mut self, line: &Line, at_s: f64, departure_s: f64) -> Work {
        let possible = self.offered(at_s);
        let (granted, left_over) = line.granted();
        Work { done: self.bits * granted - self.ahead(departure_s, left_over), possible, in_bits: true }
    }
}

/// What a box knows of its line: how much left it in the past.
#[derive(Clone, Debug)]
pub struct Estimate {
    account: Account,
    since: (f64, f64),
    rate_bps: f64,
}

/// For how long a rate is measured, in seconds.
const MEASURED_S: f64 = 0.1;

impl Estimate {
    /// Of a line at its beginning, which promises this rate.
    #[must_use]
    pub fn new(account: Account, rate_bps: f64) -> Self {
        Self { account, since: (0.0, 0.0), rate_bps }
    }

    /// When the line, at work until `departure_s`, will be free, as one believes at `now_s` who has measured its rate and
    /// knows how much waits.
    pub fn free_s(&mut self, line: &Line, now_s: f64, departure_s: f64) -> f64 {
        let offered = self.account.offered(now_s);
        let (since_s, before) = self.since;
        if now_s - since_s >= MEASURED_S {
            // Of a line that is down one knows what it could do when it was up.
            if offered > before {
                self.rate_bps = (offered - before) / (now_s - since_s);
            }
            self.since = (now_s, offered);
        }
        now_s + self.account.ahead(departure_s, line.granted().1) / self.rate_bps
    }
}
