//! All queue disciplines: two lists of names and types, and what is asked of whichever of them a link has.

use serde::{Deserialize, Serialize};

use super::*;

macro_rules! queues {
    (
        $d:tt
        on arrival: $($name:literal => $module:ident :: $type:ident),+;
        at departure: $($held_name:literal => $held_module:ident :: $held_type:ident),+;
    ) => {
        /// A queue's kind and parameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum QueueSpec {
            $(
                #[doc = concat!("`", $name, "`")]
                #[serde(rename = $name)]
                $type(<$module::$type as Discipline>::Spec),
            )+
            $(
                #[doc = concat!("`", $held_name, "`")]
                #[serde(rename = $held_name)]
                $held_type(<$held_module::$held_type as Store>::Spec),
            )+
        }

        impl QueueSpec {
            /// The kind, as a scenario names it.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$type(_) => $name,)+
                    $(Self::$held_type(_) => $held_name,)+
                }
            }

            /// What "full" means; the packet in service counts.
            #[must_use]
            pub fn limit(&self) -> QueueLimit {
                match self {
                    $(Self::$type(spec) => spec.limit,)+
                    $(Self::$held_type(spec) => spec.limit,)+
                }
            }

            /// Whether packets wait in the queue itself, which decides when the line is free.
            #[must_use]
            pub fn decides_at_departure(&self) -> bool {
                match self {
                    $(Self::$type(_) => false,)+
                    $(Self::$held_type(_) => true,)+
                }
            }

            /// Whether it may mark packets instead of dropping them.
            #[must_use]
            pub fn marks(&self) -> bool {
                match self {
                    $(Self::$type(spec) => <$module::$type as Discipline>::marks(spec),)+
                    $(Self::$held_type(spec) => <$held_module::$held_type as Store>::marks(spec),)+
                }
            }

            /// See [`Discipline::TAKES_WHAT_FITS`].
            #[must_use]
            pub fn takes_what_fits(&self) -> bool {
                match self {
                    $(Self::$type(_) => <$module::$type as Discipline>::TAKES_WHAT_FITS,)+
                    $(Self::$held_type(_) => <$held_module::$held_type as Store>::TAKES_WHAT_FITS,)+
                }
            }
        }

        /// A queue at work that decides on arrival.
        #[derive(Clone, Debug)]
        pub enum Queue {
            $(#[doc = concat!("`", $name, "`")] $type($module::$type),)+
            /// Packets wait elsewhere.
            Elsewhere,
        }

        impl Queue {
            /// An empty queue of the given kind.
            #[must_use]
            pub fn new(spec: &QueueSpec, site: Site<'_>) -> Self {
                match spec {
                    $(QueueSpec::$type(spec) => Self::$type(Discipline::new(spec, site)),)+
                    $(QueueSpec::$held_type(_) => Self::Elsewhere,)+
                }
            }

            /// Whether the arriving packet may join.
            pub fn admit(&mut self, arrival: &Arrival) -> Verdict {
                match self {
                    $(Self::$type(queue) => queue.admit(arrival),)+
                    Self::Elsewhere => Verdict::Refuse(Refusal::Elsewhere),
                }
            }

            /// What it has to be told.
            #[must_use]
            pub fn needs(&self) -> Needs {
                match self {
                    $(Self::$type(queue) => queue.needs(),)+
                    Self::Elsewhere => Needs::default(),
                }
            }

            /// Whether the limit leaves room for such a packet.
            #[must_use]
            pub fn has_room(&self, arrival: &Arrival) -> bool {
                match self {
                    $(Self::$type(queue) => queue.has_room(arrival),)+
                    Self::Elsewhere => false,
                }
            }

            /// Random numbers drawn so far.
            #[must_use]
            pub fn random_draws(&self) -> u64 {
                match self {
                    $(Self::$type(queue) => queue.random_draws(),)+
                    Self::Elsewhere => 0,
                }
            }
        }

        /// A queue at work that decides at departure.
        #[derive(Clone, Debug)]
        pub enum Held {
            $(#[doc = concat!("`", $held_name, "`")] $held_type($held_module::$held_type),)+
        }

        impl Held {
            /// An empty queue of the given kind; nothing if that kind decides on arrival.
            #[must_use]
            pub fn new(spec: &QueueSpec, site: Site<'_>) -> Option<Self> {
                match spec {
                    $(QueueSpec::$type(_) => None,)+
                    $(QueueSpec::$held_type(spec) => Some(Self::$held_type(Store::new(spec, site))),)+
                }
            }
        }

        /// Calls a method of a queue that decides at departure.
        macro_rules! ask {
            ($d queue:ident, $d($d call:tt)+) => {
                match $d queue {
                    $(Held::$held_type(queue) => queue.$d($d call)+,)+
                }
            };
        }

        /// Names and one-line descriptions of all disciplines.
        pub const QUEUES: &[(&str, &str)] = &[
            $(($name, <$module::$type as Discipline>::HELP),)+
            $(($held_name, <$held_module::$held_type as Store>::HELP),)+
        ];
    };
}

queues! {
    // For the variables of the macro that this one writes.
    $
    on arrival:
        "drop-tail" => drop_tail::DropTail,
        "threshold" => threshold::Threshold,
        "policer" => policer::Policer,
        "red" => red::Red,
        "pie" => pie::Pie,
        "rem" => rem::Rem;
    at departure:
        "codel" => codel::Codel,
        "fq-codel" => fq_codel::FqCodel,
        "fq-pie" => fq_pie::FqPie,
        "cobalt" => cobalt::Cobalt,
        "fq-cobalt" => fq_cobalt::FqCobalt,
        "cake" => cake::Cake,
        "dualpi2" => dualpi2::DualPi2,
        "drr" => drr::Drr,
        "strict" => strict::Strict;
}

/// Methods of the queues that decide at departure, asked of the one that is there.
macro_rules! asked {
    ($(fn $name:ident($this:ident: $own:ty $(, $argument:ident: $type:ty)*) -> $answer:ty;)+) => {$(
        #[doc = concat!("See [`Store::", stringify!($name), "`].")]
        pub fn $name($this: $own $(, $argument: $type)*) -> $answer {
            ask!($this, $name($($argument),*))
        }
    )+};
}

impl Held {
    /// See [`Store::join`].
    ///
    /// # Errors
    /// It does not take the packet in, and why.
    pub fn join(&mut self, packet: Waiting, on_line: Load, lost: &mut Lost) -> Result<(), Refusal> {
        ask!(self, join(packet, on_line, lost))
    }

    asked! {
        fn next(self: &mut Self, now: Time, lost: &mut Lost) -> Option<Waiting>;
        fn ready_s(self: &Self) -> f64;
        fn shaped_s(self: &Self, now_s: f64) -> f64;
        fn backlog_s(self: &Self, now_s: f64) -> f64;
        fn waited_s(self: &Self, sum_s: f64, now_s: f64) -> f64;
        fn random_draws(self: &Self) -> u64;
    }
}
