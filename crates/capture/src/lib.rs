//! Traces of packets in formats that other tools read: captures read into tables, simulated packets written.
//!
//! ```
//! use tightlink_capture::read::capture::{Options, read};
//! use tightlink_capture::read::source::Source;
//! use tightlink_capture::read::tables::tables;
//!
//! // The header of a pcap file, as of `std::fs::File::open("FILE.pcap")`: no packet follows.
//! let file: Vec<u8> = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65535, 101].into_iter().flat_map(u32::to_le_bytes).collect();
//! let capture = read(Source::new(&file[..])?, Options::default(), |_packets, _bytes| true)?;
//! assert_eq!((capture.format, capture.count), ("pcap", 0));
//! let names: Vec<&str> = tables(capture).into_iter().map(|(name, _)| name).collect();
//! assert!(names.contains(&"flows"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`write::Capture`] listens to the [`Trace`](tightlink_sim::probe::trace::Trace) of a simulation, of whose records a
//! [`tr::TrWriter`] writes lines.

pub mod read;
pub mod tr;
pub mod write;
