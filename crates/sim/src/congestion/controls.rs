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

/// Methods of the controls, asked of that which a handle names.
macro_rules! asked {
    ($($(#[$attribute:meta])* fn $name:ident($this:ident: $own:ty $(, $argument:ident: $type:ty)*) $(-> $answer:ty)?;)+) => {$(
        #[doc = concat!("See [`CongestionControl::", stringify!($name), "`].")]
        $(#[$attribute])*
        pub fn $name($this: $own, handle: Handle $(, $argument: $type)*) $(-> $answer)? {
            ask!($this, handle, $name($($argument),*))
        }
    )+};
}

impl Controls {
    /// Adds a control that lives outside of the engine.
    pub fn connect(&mut self, control: Box<dyn External>) -> Handle {
        self.external.push(external::Connected::to(control));
        Handle { kind: Kind::Connected, index: self.external.len() as u32 - 1 }
    }

    asked! {
        #[inline]
        fn measure_and_grow(self: &mut Self, window: &mut Window, ack: &Ack, used: Option<bool>);
        fn measure(self: &mut Self, ack: &Ack);
        #[cold]
        fn hear(self: &mut Self, window: &Window, ack: &Ack);
        fn on_loss(self: &mut Self, window: &Window, loss: &Loss) -> f64;
        fn on_mark(self: &mut Self, window: &Window, loss: &Loss) -> Option<f64>;
        fn on_timeout(self: &mut Self, window: &Window, loss: &Loss) -> f64;
        #[cold]
        fn loss_window(self: &mut Self) -> Option<f64>;
        fn on_sample(
            self: &mut Self, window: &mut Window, sample: &RateSample, losses: &[LostPacket], random: &mut Stream
        ) -> bool;
        #[cold]
        fn on_handshake(self: &mut Self, window: &mut Window, now: Time, rtt_s: f64);
        fn on_restart(self: &mut Self, window: &mut Window, now: Time, random: &mut Stream);
        fn on_silence(self: &mut Self, last: Time, now: Time);
        fn on_spurious(self: &mut Self, window: &mut Window);
        #[cold]
        fn goes_without_marks(self: &mut Self);
        #[cold]
        #[inline(never)]
        fn is_scalable(self: &Self) -> bool;
        fn phase(self: &Self, window: &Window) -> usize;
        #[cold]
        fn known(self: &Self, packet_bits: f64, each: &mut dyn FnMut(&str, f64));
        fn pacing_rate(self: &Self, window: &Window, in_flight: f64, srtt_s: f64) -> f64;
        fn samples_delivery(self: &Self) -> bool;
        fn is_paced(self: &Self) -> bool;
        #[cold]
        fn hears_marks(self: &Self) -> bool;
        #[cold]
        fn counts_marks(self: &Self) -> bool;
    }

    /// Whether it lives outside of the engine.
    #[must_use]
    pub fn is_external(&self, handle: Handle) -> bool {
        matches!(handle.kind, Kind::Connected)
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
