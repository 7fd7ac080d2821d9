//! Congestion controls, one file each: how the window grows, and how far it shrinks. Loss recovery is
//! another matter (`transport/recovery`). A new control is a file and a line in the list at the end.

use crate::time::Time;

pub mod reno;

/// The congestion window and the slow-start threshold, in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold.
    pub ssthresh: f64,
}

impl Window {
    /// Whether the window is below the threshold.
    #[inline]
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// An ACK that acknowledged new data outside of recovery.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Packets that it acknowledged; one, where a profile counts ACKs instead of data.
    pub acked: f64,
    /// The round-trip time that it measured, in seconds.
    pub rtt_s: Option<f64>,
}

/// How a window reacts. All windows are in packets.
pub trait CongestionControl: Sized {
    /// One line of help.
    const HELP: &'static str;

    /// The state of a new connection.
    fn new() -> Self;

    /// New data was acknowledged: grow.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);

    /// A loss was detected by duplicate ACKs or SACK while `in_use` packets were outstanding: the
    /// window to continue with, before any lower bound.
    fn on_loss(&mut self, window: &Window, in_use: f64) -> f64;

    /// The retransmission timer expired while `in_use` packets were outstanding: the new threshold,
    /// before any lower bound.
    fn on_timeout(&mut self, window: &Window, in_use: f64) -> f64 {
        self.on_loss(window, in_use)
    }
}

/// Which control a flow has, and where its state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    kind: Kind,
    index: u32,
}

macro_rules! controls {
    ($($name:literal => $module:ident :: $type:ident in $arena:ident),+ $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Kind {
            $($type,)+
        }

        /// The state of all controls: an arena for each kind, so that a flow carries eight bytes and
        /// not the largest control's state.
        #[derive(Debug, Default)]
        pub struct Controls {
            $($arena: Vec<$module::$type>,)+
        }

        impl Controls {
            /// Adds a control by name.
            pub fn add(&mut self, name: &str) -> Option<Handle> {
                match name {
                    $($name => {
                        self.$arena.push(CongestionControl::new());
                        Some(Handle { kind: Kind::$type, index: self.$arena.len() as u32 - 1 })
                    })+
                    _ => None,
                }
            }

            /// See [`CongestionControl::on_ack`].
            #[inline]
            pub fn on_ack(&mut self, handle: Handle, window: &mut Window, ack: &Ack) {
                match handle.kind {
                    $(Kind::$type => self.$arena[handle.index as usize].on_ack(window, ack),)+
                }
            }

            /// See [`CongestionControl::on_loss`].
            pub fn on_loss(&mut self, handle: Handle, window: &Window, in_use: f64) -> f64 {
                match handle.kind {
                    $(Kind::$type => self.$arena[handle.index as usize].on_loss(window, in_use),)+
                }
            }

            /// See [`CongestionControl::on_timeout`].
            pub fn on_timeout(&mut self, handle: Handle, window: &Window, in_use: f64) -> f64 {
                match handle.kind {
                    $(Kind::$type => self.$arena[handle.index as usize].on_timeout(window, in_use),)+
                }
            }
        }

        /// Names and one-line descriptions of all controls.
        pub const CONTROLS: &[(&str, &str)] = &[$(($name, <$module::$type as CongestionControl>::HELP)),+];
    };
}

controls! {
    "reno" => reno::Reno in reno,
}
