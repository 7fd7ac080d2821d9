//! Congestion controls, one file each: how the window grows, and how far it shrinks. Loss recovery is
//! another matter (`transport/recovery`). A new control is a file and a line in the list at the end.

use crate::random::Stream;
use crate::scenario::Recovery;
use crate::time::Time;

mod aggregation;
pub mod bbr;
pub mod bbr3;
pub mod bic;
pub mod compound;
pub mod copa;
pub mod cubic;
pub mod dctcp;
pub mod external;
pub mod fast;
pub mod fast_at;
pub mod highspeed;
pub mod htcp;
pub mod hybla;
pub mod illinois;
pub mod ledbat;
pub mod ledbat_plus_plus;
mod long_term;
pub mod options;
pub mod prague;
pub mod prices;
pub mod rate_sample;
pub mod reno;
pub mod rounds;
pub mod scalable;
pub mod slow_start;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod vectors;
pub mod vegas;
pub mod veno;
pub mod vivace;
pub mod westwood;
pub mod yeah;

pub use external::{External, Maker, Report};
pub use options::{ControlOption, ControlSpec, Options};
pub use rate_sample::{LostPacket, RateSample};

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

    /// Slow start, RFC 5681 eq. 2: at most one packet per ACK, however much it acknowledges.
    #[inline]
    pub fn slow_start(&mut self, acked: f64) {
        self.cwnd += acked.min(1.0);
    }

    /// Grows by `packets` per window acknowledged, and no faster than slow start.
    #[inline]
    pub fn grow(&mut self, packets: f64, acked: f64) {
        self.cwnd += (packets * acked / self.cwnd).min(acked);
    }
}

/// An ACK that acknowledged new data.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Packets that growth counts: those acknowledged; one, where a profile counts ACKs instead of data.
    pub acked: f64,
    /// Packets acknowledged.
    pub delivered: f64,
    /// Packets that had a congestion mark, as far as it tells: where nothing counts them, it stands for all that it
    /// acknowledges. With accurate ECN it may tell of more, as marks of packets behind a gap are among them.
    pub marked: f64,
    /// The round-trip time that its timestamp tells, in seconds.
    pub rtt_s: f64,
    /// Packets outstanding before it came.
    pub in_flight: f64,
    /// The last packet that it acknowledges.
    pub through: i32,
    /// The highest packet sent.
    pub highest: i32,
}

impl Ack {
    /// Whether the window was in use when the ACK came. In slow start more than half of it is enough: the other
    /// half the ACKs of this round have only just allowed (RFC 9438 §5.8).
    #[inline]
    #[must_use]
    pub fn finds_in_use(&self, window: &Window) -> bool {
        let limit = if window.in_slow_start() { 2.0 * self.in_flight } else { self.in_flight + 1.0 };
        limit > window.cwnd
    }
}

/// A loss, or a mark that stands for one.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When it was detected.
    pub now: Time,
    /// Packets of the window in use then: what a cut starts from.
    pub in_use: f64,
}

impl Loss {
    /// The window to search for next (BIC's and CUBIC's W_max) after `top` was it. With `fast_convergence`, a
    /// window that did not come back to `top` gives way to new flows (RFC 9438 §4.7).
    #[must_use]
    pub fn top(&self, top: f64, beta: f64, fast_convergence: bool) -> f64 {
        if fast_convergence && self.in_use < top { self.in_use * (1.0 + beta) / 2.0 } else { self.in_use }
    }
}

/// A paced connection sends this many times its window in a smoothed round-trip time: in slow start up to half
/// of the threshold, and beyond (Linux, ip-sysctl: tcp_pacing_ss_ratio, tcp_pacing_ca_ratio).
const PACING: [f64; 2] = [2.0, 1.2];

/// How Linux, which has windows in whole packets, keeps a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// A share of the window, rounded down.
    Down,
    /// The window less a share of it, which is rounded down.
    Up,
    /// With its fraction, as TCP Prague does.
    No,
}

impl Whole {
    /// What is kept of a threshold, in packets.
    #[must_use]
    pub fn of(self, threshold: f64) -> f64 {
        match self {
            Self::Down => threshold.floor(),
            Self::Up => threshold.ceil(),
            Self::No => threshold,
        }
    }
}

/// How a window reacts. All windows are in packets.
pub trait CongestionControl: Sized {
    /// One line of help.
    const HELP: &'static str;
    /// What a scenario may set.
    const OPTIONS: &'static [ControlOption] = &[];
    /// Whether the window grows also where something else limits the sender, so that it tells nothing of
    /// the path (as RFC 5681 allows and RFC 9438 §5.8 does not).
    const GROWS_UNUSED: bool = false;
    /// Whether it hears of every ACK, and judges itself what an unused window means.
    const SEES_UNUSED: bool = false;
    /// Whether it is driven by samples of the delivery rate: [`Self::on_sample`]. Its connections are paced.
    const SAMPLES_DELIVERY: bool = false;
    /// Whether its connections are paced, whatever a scenario says.
    const PACED: bool = Self::SAMPLES_DELIVERY;
    /// Whether it reads [`Ack::marked`], so that flows need marks and receivers that tell of each (RFC 8257 §3.2).
    const READS_MARKS: bool = false;
    /// Whether a loss is no reason to hold the window still until it is mended. Only RACK, which tells of each packet, heeds it.
    const GOES_ON: bool = false;
    /// How Linux makes a threshold whole.
    const WHOLE: Whole = Whole::Down;

    /// Its phases, by the number that [`Self::phase`] has.
    const PHASES: &'static [&'static str] = &["slow-start", "congestion-avoidance"];

    /// The state of a new connection.
    fn new(options: &Options<'_>) -> Self;

    /// Whether its packets say ECT(1), as those of a scalable control do (RFC 9331 §4.1), rather than ECT(0).
    fn is_scalable(&self) -> bool {
        false
    }

    /// The receiver does not tell of each mark, so that its packets go without ECN. Only for a scalable control.
    fn goes_without_marks(&mut self) {}

    /// New data was acknowledged, in recovery or outside: measure. Comes before [`Self::on_ack`].
    #[inline]
    fn measure(&mut self, _ack: &Ack) {}

    /// New data was acknowledged outside of recovery: grow.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);

    /// A loss was detected by duplicate ACKs or SACK: the window to continue with, before any lower bound. Half, as in RFC 5681
    /// equation 4, where a control knows nothing better.
    fn on_loss(&mut self, _window: &Window, loss: &Loss) -> f64 {
        loss.in_use / 2.0
    }

    /// A packet was marked (RFC 3168), the first of its window: the window to continue with, before any lower
    /// bound; none: the mark is no news to it. [`Self::measure`] has seen the ACK that tells of it. A control that samples
    /// set takes no note of marks (Linux: `tcp_end_cwnd_reduction` leaves it its window).
    fn on_mark(&mut self, window: &Window, loss: &Loss) -> Option<f64> {
        (!Self::SAMPLES_DELIVERY).then(|| self.on_loss(window, loss))
    }

    /// The retransmission timer expired: the new threshold, before any lower bound.
    fn on_timeout(&mut self, window: &Window, loss: &Loss) -> f64 {
        self.on_loss(window, loss)
    }

    /// An ACK told of packets for the first time, in recovery or outside, and `losses` were found since the sample
    /// before, with RACK by this ACK, too: sets the window. True if samples of what is in flight will not tell how fast
    /// the path is, as the control itself sends too little.
    fn on_sample(
        &mut self,
        _window: &mut Window,
        _sample: &RateSample,
        _losses: &[LostPacket],
        _random: &mut Stream,
    ) -> bool {
        false
    }

    /// The SYN was acknowledged, after `rtt_s`. Only for a control that samples, which does not hear of it otherwise.
    fn on_handshake(&mut self, _now: Time, _rtt_s: f64) {}

    /// The application has something to send again, with nothing in flight. Only for a control that samples.
    fn on_restart(&mut self, _window: &mut Window, _now: Time, _random: &mut Stream) {}

    /// The losses that it has answered last were none: the packets had been late only. The window that was before them
    /// comes back.
    fn on_spurious(&mut self, _window: &mut Window) {}

    /// In which of its [`Self::PHASES`] it is.
    fn phase(&self, window: &Window) -> usize {
        usize::from(!window.in_slow_start())
    }

    /// Packets per second at which a paced connection sends, with `in_flight` packets outstanding and a smoothed
    /// round-trip time of `srtt_s` seconds.
    fn pacing_rate(&self, window: &Window, in_flight: f64, srtt_s: f64) -> f64 {
        PACING[usize::from(window.cwnd >= window.ssthresh / 2.0)] * window.cwnd.max(in_flight) / srtt_s
    }
}

/// Which control a flow has, and where its state is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    kind: Kind,
    index: u32,
}

/// A control as others see it.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// Its name in a scenario.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// What a scenario may set.
    pub options: &'static [ControlOption],
    /// Whether it is driven by samples of the delivery rate.
    pub samples_delivery: bool,
    /// Whether flows need congestion marks.
    pub reads_marks: bool,
    /// Its phases, by their numbers in series.
    pub phases: &'static [&'static str],
}

impl Described {
    /// Whether it works with a kind of loss recovery: with samples, only where each packet is acknowledged.
    #[must_use]
    pub fn works_with(&self, recovery: Recovery) -> bool {
        !self.samples_delivery || recovery.acknowledges_each()
    }
}

/// Whether flows with the control of this name need congestion marks; not of one that is not known.
#[must_use]
pub fn reads_marks(name: &str) -> bool {
    CONTROLS.iter().any(|control| control.name == name && control.reads_marks)
}

/// Whether the control of this name is driven by samples of the delivery rate; not one that is not known.
#[must_use]
pub fn samples_delivery(name: &str) -> bool {
    CONTROLS.iter().any(|control| control.name == name && control.samples_delivery)
}

macro_rules! controls {
    ($($($name:literal)? => $module:ident :: $type:ident in $arena:ident),+ $(,)?) => {
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
            /// Adds a control.
            ///
            /// # Errors
            /// What is wrong with it: an unknown name or option, a value out of its range.
            pub fn add(&mut self, spec: &ControlSpec) -> Result<Handle, String> {
                match spec.kind.as_str() {
                    $($($name => {
                        let options = Options::new(<$module::$type as CongestionControl>::OPTIONS, &spec.options)?;
                        self.$arena.push(CongestionControl::new(&options));
                        Ok(Handle { kind: Kind::$type, index: self.$arena.len() as u32 - 1 })
                    })?)+
                    _ => Err("no such congestion control".into()),
                }
            }

            /// Begins a control anew: in the state of `fresh`, which is of the same kind and lives inside of the engine.
            pub fn renew(&mut self, handle: Handle, fresh: Handle) {
                debug_assert_eq!(handle.kind, fresh.kind);
                match handle.kind {
                    $(Kind::$type => {
                        $(const _: &str = $name;
                        self.$arena[handle.index as usize] = self.$arena[fresh.index as usize].clone();)?
                    })+
                }
            }

            /// Measures and grows: see [`CongestionControl::on_ack`]. Where the sender has kept note of whether the window is
            /// `used`, as in Linux, no window grows unused.
            #[inline]
            pub fn on_ack(&mut self, handle: Handle, window: &mut Window, ack: &Ack, used: Option<bool>) {
                match handle.kind {
                    $(Kind::$type => {
                        let control = &mut self.$arena[handle.index as usize];
                        control.measure(ack);
                        let always = <$module::$type as CongestionControl>::SEES_UNUSED
                            || (<$module::$type as CongestionControl>::GROWS_UNUSED && used.is_none());
                        if always || used.unwrap_or_else(|| ack.finds_in_use(window)) {
                            control.on_ack(window, ack);
                        }
                    })+
                }
            }

            /// See [`CongestionControl::measure`].
            pub fn measure(&mut self, handle: Handle, ack: &Ack) {
                match handle.kind {
                    $(Kind::$type => self.$arena[handle.index as usize].measure(ack),)+
                }
            }

            /// See [`CongestionControl::on_loss`].
            pub fn on_loss(&mut self, handle: Handle, window: &Window, loss: &Loss) -> f64 {
                match handle.kind {
                    $(Kind::$type => self.$arena[handle.index as usize].on_loss(window, loss),)+
                }
            }

            /// See [`CongestionControl::on_mark`].
            pub fn on_mark(&mut self, handle: Handle, window: &Window, loss: &Loss) -> Option<f64> {
                match handle.kind {
                    $(Kind::$type => self.$arena[handle.index as usize].on_mark(window, loss),)+
                }
            }

            /// See [`CongestionControl::READS_MARKS`].
            #[must_use]
            pub fn reads_marks(&self, handle: Handle) -> bool {
                match handle.kind {
                    $(Kind::$type => <$module::$type as CongestionControl>::READS_MARKS,)+
                }
            }

            /// See [`CongestionControl::GOES_ON`].
            #[must_use]
            #[cold]
            pub fn goes_on(&self, handle: Handle) -> bool {
                match handle.kind {
                    $(Kind::$type => <$module::$type as CongestionControl>::GOES_ON,)+
                }
            }

            /// See [`CongestionControl::WHOLE`].
            #[must_use]
            #[cold]
            pub fn whole(&self, handle: Handle) -> Whole {
                match handle.kind {
                    $(Kind::$type => <$module::$type as CongestionControl>::WHOLE,)+
                }
            }

            /// See [`CongestionControl::is_scalable`].
            #[must_use]
            #[cold]
            #[inline(never)]
            pub fn is_scalable(&self, handle: Handle) -> bool {
                match handle.kind {
                    $(Kind::$type => self.$arena[handle.index as usize].is_scalable(),)+
                }
            }

            /// See [`CongestionControl::goes_without_marks`].
            #[cold]
            pub fn goes_without_marks(&mut self, handle: Handle) {
                match handle.kind {
                    $(Kind::$type => self.$arena[handle.index as usize].goes_without_marks(),)+
                }
            }

            /// See [`CongestionControl::on_timeout`].
            pub fn on_timeout(&mut self, handle: Handle, window: &Window, loss: &Loss) -> f64 {
                match handle.kind {
                    $(Kind::$type => self.$arena[handle.index as usize].on_timeout(window, loss),)+
                }
            }

            /// See [`CongestionControl::SAMPLES_DELIVERY`].
            #[must_use]
            pub fn samples_delivery(&self, handle: Handle) -> bool {
                match handle.kind {
                    $(Kind::$type => <$module::$type as CongestionControl>::SAMPLES_DELIVERY,)+
                }
            }

            /// See [`CongestionControl::PACED`].
            #[must_use]
            pub fn is_paced(&self, handle: Handle) -> bool {
                match handle.kind {
                    $(Kind::$type => <$module::$type as CongestionControl>::PACED,)+
                }
            }

            /// See [`CongestionControl::on_sample`].
            pub fn on_sample(
                &mut self,
                handle: Handle,
                window: &mut Window,
                sample: &RateSample,
                losses: &[LostPacket],
                random: &mut Stream,
            ) -> bool {
                match handle.kind {
                    $(Kind::$type => {
                        self.$arena[handle.index as usize].on_sample(window, sample, losses, random)
                    })+
                }
            }

            /// See [`CongestionControl::on_handshake`].
            pub fn on_handshake(&mut self, handle: Handle, now: Time, rtt_s: f64) {
                match handle.kind {
                    $(Kind::$type => self.$arena[handle.index as usize].on_handshake(now, rtt_s),)+
                }
            }

            /// See [`CongestionControl::on_restart`].
            pub fn on_restart(&mut self, handle: Handle, window: &mut Window, now: Time, random: &mut Stream) {
                match handle.kind {
                    $(Kind::$type => self.$arena[handle.index as usize].on_restart(window, now, random),)+
                }
            }

            /// See [`CongestionControl::on_spurious`].
            pub fn on_spurious(&mut self, handle: Handle, window: &mut Window) {
                match handle.kind {
                    $(Kind::$type => self.$arena[handle.index as usize].on_spurious(window),)+
                }
            }

            /// See [`CongestionControl::phase`].
            #[must_use]
            pub fn phase(&self, handle: Handle, window: &Window) -> usize {
                match handle.kind {
                    $(Kind::$type => self.$arena[handle.index as usize].phase(window),)+
                }
            }

            /// See [`CongestionControl::pacing_rate`].
            #[must_use]
            pub fn pacing_rate(&self, handle: Handle, window: &Window, in_flight: f64, srtt_s: f64) -> f64 {
                match handle.kind {
                    $(Kind::$type => self.$arena[handle.index as usize].pacing_rate(window, in_flight, srtt_s),)+
                }
            }
        }

        /// All controls that have a name.
        pub const CONTROLS: &[Described] = &[$($(Described {
            name: $name,
            help: <$module::$type as CongestionControl>::HELP,
            options: <$module::$type as CongestionControl>::OPTIONS,
            samples_delivery: <$module::$type as CongestionControl>::SAMPLES_DELIVERY,
            reads_marks: <$module::$type as CongestionControl>::READS_MARKS,
            phases: <$module::$type as CongestionControl>::PHASES,
        },)?)+];
    };
}

controls! {
    "reno" => reno::Reno in reno,
    "cubic" => cubic::Cubic in cubic,
    "bic" => bic::Bic in bic,
    "highspeed" => highspeed::HighSpeed in highspeed,
    "scalable" => scalable::Scalable in scalable,
    "htcp" => htcp::HTcp in htcp,
    "compound" => compound::Compound in compound,
    "vegas" => vegas::Vegas in vegas,
    "westwood" => westwood::Westwood in westwood,
    "veno" => veno::Veno in veno,
    "illinois" => illinois::Illinois in illinois,
    "yeah" => yeah::Yeah in yeah,
    "hybla" => hybla::Hybla in hybla,
    "fast" => fast::Fast in fast,
    "fast-at" => fast_at::FastAt in fast_at,
    "ledbat" => ledbat::Ledbat in ledbat,
    "ledbat++" => ledbat_plus_plus::LedbatPlusPlus in ledbat_plus_plus,
    "copa" => copa::Copa in copa,
    "vivace" => vivace::Vivace in vivace,
    "dctcp" => dctcp::Dctcp in dctcp,
    "prague" => prague::Prague in prague,
    "prices" => prices::Prices in prices,
    "bbr" => bbr::Bbr in bbr,
    "bbr3" => bbr3::Bbr3 in bbr3,
    => external::Connected in external,
}

impl Controls {
    /// Adds a control that lives outside of the engine.
    pub fn connect(&mut self, control: Box<dyn External>) -> Handle {
        self.external.push(external::Connected::to(control));
        Handle { kind: Kind::Connected, index: self.external.len() as u32 - 1 }
    }
}
