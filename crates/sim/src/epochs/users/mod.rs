//! Users: sources that think, connect, send a file and think again, thousands behind each access router.

pub mod counts;
pub mod group;
pub mod outlet;
pub mod port;
pub mod receptions;
pub mod site;
pub mod source;
pub mod source_map;
