//! The engine from outside, as a module of its library: compiled with the tests of each part, it is compiled once.

mod common;

mod bbr;
mod changes;
mod coexistence;
mod congestion;
mod conservation;
mod determinism;
mod epochs;
mod flow_control;
mod limits;
mod pacing;
mod prices;
mod processor;
mod pushback;
mod quantiles;
mod queues;
mod recoveries;
mod reference_link;
mod rfc;
mod sizes;
mod spraying;
mod theory;
