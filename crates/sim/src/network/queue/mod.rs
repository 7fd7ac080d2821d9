//! Queue disciplines, one file each. A new one is a file and a line in the list at the end.

use serde::{Deserialize, Serialize};

use crate::scenario::Profile;
use crate::time::Time;

pub mod drop_tail;

/// What a discipline sees of a packet that arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When it arrives.
    pub now: Time,
    /// Packets waiting and in service.
    pub packets: usize,
    /// Bytes waiting and in service; zero unless the discipline counts bytes.
    pub bytes: u64,
    /// Its size in bytes.
    pub size: u32,
}

/// Who may join a queue.
pub trait Discipline {
    /// The parameters, as a scenario gives them.
    type Spec;
    /// One line of help.
    const HELP: &'static str;

    /// An empty queue.
    fn new(spec: &Self::Spec, profile: Profile) -> Self;

    /// Whether the arriving packet may join.
    fn admit(&mut self, arrival: &Arrival) -> bool;

    /// Whether [`Arrival::bytes`] is looked at: keeping it costs a little.
    fn counts_bytes(&self) -> bool {
        false
    }
}

macro_rules! queues {
    ($($name:literal => $module:ident :: $type:ident),+ $(,)?) => {
        /// A queue's kind and parameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum QueueSpec {
            $(
                #[doc = concat!("`", $name, "`")]
                #[serde(rename = $name)]
                $type(<$module::$type as Discipline>::Spec),
            )+
        }

        /// A queue at work: dispatch by enum, for the hot path.
        #[derive(Clone, Debug)]
        pub enum Queue {
            $(#[doc = concat!("`", $name, "`")] $type($module::$type),)+
        }

        impl Queue {
            /// An empty queue of the given kind.
            #[must_use]
            pub fn new(spec: &QueueSpec, profile: Profile) -> Self {
                match spec {
                    $(QueueSpec::$type(spec) => Self::$type(Discipline::new(spec, profile)),)+
                }
            }

            /// Whether the arriving packet may join.
            #[inline]
            pub fn admit(&mut self, arrival: &Arrival) -> bool {
                match self {
                    $(Self::$type(queue) => queue.admit(arrival),)+
                }
            }

            /// Whether [`Arrival::bytes`] is looked at.
            #[must_use]
            pub fn counts_bytes(&self) -> bool {
                match self {
                    $(Self::$type(queue) => queue.counts_bytes(),)+
                }
            }
        }

        /// Names and one-line descriptions of all disciplines.
        pub const QUEUES: &[(&str, &str)] = &[$(($name, <$module::$type as Discipline>::HELP)),+];
    };
}

queues! {
    "drop-tail" => drop_tail::DropTail,
}
