//! Congestion controls, one file each: how the window grows, and how far it shrinks. Loss recovery is
//! another matter (`transport/recovery`). A new control is a file, its module here, and a line in the list of `controls.rs`.

mod aggregation;
pub mod bbr;
pub mod bbr3;
pub mod bic;
pub mod compound;
mod control;
mod controls;
pub mod copa;
mod counted;
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

pub use control::{Ack, CongestionControl, Loss, Whole, Window, known};
pub use controls::{CONTROLS, Controls, Described, Handle, reads_marks, samples_delivery};
pub use external::{Cut, External, Maker, Opening, Report};
pub use options::{ControlOption, ControlSpec, Options};
pub use rate_sample::{LostPacket, RateSample};
