//! What version 3 takes back when losses turn out to have been none (§5.5.11).

use super::{Bbr3, State};
use crate::congestion::Window;

/// The model before the losses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// The state that the losses ended: Startup, or up (undo_state).
    pub left: Option<State>,
    bandwidth: f64,
    short_term: f64,
    long_term: f64,
}

impl Bbr3 {
    /// §5.5.11.1, SaveStateUponLoss.
    pub(super) fn save_state(&mut self, window: &Window) {
        self.save_window(window);
        self.undo = Undo {
            left: None,
            bandwidth: self.bounds.bandwidth,
            short_term: self.bounds.short_term,
            long_term: self.bounds.long_term,
        };
    }

    /// §5.5.11.2, HandleSpuriousLossDetection.
    pub(super) fn handle_spurious_losses(&mut self, window: &mut Window) {
        self.restore_window(window);
        self.bounds.forget_losses();
        self.full.restart(0.0);
        let Undo { left, bandwidth, short_term, long_term } = self.undo;
        self.bounds.bandwidth = self.bounds.bandwidth.max(bandwidth);
        self.bounds.short_term = self.bounds.short_term.max(short_term);
        self.bounds.long_term = self.bounds.long_term.max(long_term);
        match left {
            Some(State::Startup) if self.state != State::Startup => {
                self.full.reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => {
                self.start_refill(self.total_delivered);
            }
            _ => {}
        }
        self.undo.left = None;
    }
}
