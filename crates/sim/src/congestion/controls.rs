//! All controls: one list of names, types and arenas, and what is asked of whichever of them a flow has.

use super::*;
use crate::random::Stream;
use crate::scenario::Recovery;
use crate::time::Time;

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
    described(name).is_some_and(|control| control.reads_marks)
}

/// Whether the control of this name is driven by samples of the delivery rate; not one that is not known.
#[must_use]
pub fn samples_delivery(name: &str) -> bool {
    described(name).is_some_and(|control| control.samples_delivery)
}

fn described(name: &str) -> Option<&'static Described> {
    CONTROLS.iter().find(|control| control.name == name)
}

macro_rules! controls {
    ($d:tt $($($name:literal)? => $module:ident :: $type:ident in $arena:ident),+ $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Kind {
            $($type,)+
        }

        /// The state of all controls: an arena for each kind, so that a flow carries eight bytes and
        /// not the largest control's state.
        #[derive(Debug, Default)]
        pub struct Controls {
            $(pub(super) $arena: Vec<$module::$type>,)+
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

        /// Calls a method of the control that a handle names.
        macro_rules! ask {
            ($d controls:ident, $d handle:ident, $d($d call:tt)+) => {
                match $d handle.kind {
                    $(Kind::$type => $d controls.$arena[$d handle.index as usize].$d($d call)+,)+
                }
            };
        }

        /// A constant of the kind of control that a handle names.
        macro_rules! of_kind {
            ($d handle:ident, $d constant:ident) => {
                match $d handle.kind {
                    $(Kind::$type => <$module::$type as CongestionControl>::$d constant,)+
                }
            };
        }
    };
}

controls! {
    // For the variables of the two macros that this one writes.
    $
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

    /// See [`CongestionControl::measure_and_grow`].
    #[inline]
    pub fn on_ack(&mut self, handle: Handle, window: &mut Window, ack: &Ack, used: Option<bool>) {
        ask!(self, handle, measure_and_grow(window, ack, used));
    }

    /// See [`CongestionControl::measure`].
    pub fn measure(&mut self, handle: Handle, ack: &Ack) {
        ask!(self, handle, measure(ack));
    }

    /// See [`CongestionControl::hear`].
    #[cold]
    pub fn hear(&mut self, handle: Handle, window: &Window, ack: &Ack) {
        ask!(self, handle, hear(window, ack));
    }

    /// See [`CongestionControl::on_loss`].
    pub fn on_loss(&mut self, handle: Handle, window: &Window, loss: &Loss) -> f64 {
        ask!(self, handle, on_loss(window, loss))
    }

    /// See [`CongestionControl::on_mark`].
    pub fn on_mark(&mut self, handle: Handle, window: &Window, loss: &Loss) -> Option<f64> {
        ask!(self, handle, on_mark(window, loss))
    }

    /// See [`CongestionControl::on_timeout`].
    pub fn on_timeout(&mut self, handle: Handle, window: &Window, loss: &Loss) -> f64 {
        ask!(self, handle, on_timeout(window, loss))
    }

    /// See [`CongestionControl::loss_window`].
    #[cold]
    pub fn loss_window(&mut self, handle: Handle) -> Option<f64> {
        ask!(self, handle, loss_window())
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
        ask!(self, handle, on_sample(window, sample, losses, random))
    }

    /// See [`CongestionControl::on_handshake`].
    pub fn on_handshake(&mut self, handle: Handle, now: Time, rtt_s: f64) {
        ask!(self, handle, on_handshake(now, rtt_s));
    }

    /// See [`CongestionControl::on_restart`].
    pub fn on_restart(&mut self, handle: Handle, window: &mut Window, now: Time, random: &mut Stream) {
        ask!(self, handle, on_restart(window, now, random));
    }

    /// See [`CongestionControl::on_silence`].
    pub fn on_silence(&mut self, handle: Handle, last: Time, now: Time) {
        ask!(self, handle, on_silence(last, now));
    }

    /// See [`CongestionControl::on_spurious`].
    pub fn on_spurious(&mut self, handle: Handle, window: &mut Window) {
        ask!(self, handle, on_spurious(window));
    }

    /// See [`CongestionControl::goes_without_marks`].
    #[cold]
    pub fn goes_without_marks(&mut self, handle: Handle) {
        ask!(self, handle, goes_without_marks());
    }

    /// See [`CongestionControl::is_scalable`].
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn is_scalable(&self, handle: Handle) -> bool {
        ask!(self, handle, is_scalable())
    }

    /// See [`CongestionControl::phase`].
    #[must_use]
    pub fn phase(&self, handle: Handle, window: &Window) -> usize {
        ask!(self, handle, phase(window))
    }

    /// See [`CongestionControl::pacing_rate`].
    #[must_use]
    pub fn pacing_rate(&self, handle: Handle, window: &Window, in_flight: f64, srtt_s: f64) -> f64 {
        ask!(self, handle, pacing_rate(window, in_flight, srtt_s))
    }

    /// See [`CongestionControl::SAMPLES_DELIVERY`].
    #[must_use]
    pub fn samples_delivery(&self, handle: Handle) -> bool {
        ask!(self, handle, samples_delivery())
    }

    /// See [`CongestionControl::PACED`].
    #[must_use]
    pub fn is_paced(&self, handle: Handle) -> bool {
        ask!(self, handle, is_paced())
    }

    /// See [`CongestionControl::hears_marks`].
    #[must_use]
    #[cold]
    pub fn hears_marks(&self, handle: Handle) -> bool {
        ask!(self, handle, hears_marks())
    }

    /// See [`CongestionControl::counts_marks`].
    #[must_use]
    #[cold]
    pub fn counts_marks(&self, handle: Handle) -> bool {
        ask!(self, handle, counts_marks())
    }

    /// See [`CongestionControl::GOES_ON`].
    #[must_use]
    #[cold]
    pub fn goes_on(&self, handle: Handle) -> bool {
        of_kind!(handle, GOES_ON)
    }

    /// See [`CongestionControl::WHOLE`].
    #[must_use]
    #[cold]
    pub fn whole(&self, handle: Handle) -> Whole {
        of_kind!(handle, WHOLE)
    }
}
