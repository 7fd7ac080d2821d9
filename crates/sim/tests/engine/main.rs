//! The engine from outside: one program, so that it is compiled once for all of its tests.

mod common;

mod bbr;
mod congestion;
mod conservation;
mod determinism;
mod flow_control;
mod pacing;
mod prices;
mod processor;
mod pushback;
mod queues;
mod recoveries;
mod reference_link;
mod rfc;
mod sizes;
mod theory;
mod windowed;
