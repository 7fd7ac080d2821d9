//! Real traffic of our own: senders and receivers of TCP and UDP that know exactly when they did what.
//!
//! Sockets come from outside, with their options set; so whoever opens them decides on addresses, on namespaces and on
//! the congestion control. Every function blocks until it is done, its time is up, or its [`Guard`] says so.
//!
//! One-way delays are differences of `CLOCK_REALTIME`, which all namespaces of a machine share; between machines they
//! are known but for a constant.

mod application;
mod clock;
mod datagram;
mod ending;
mod schedule;
mod system;
mod tcp_info;
mod tcp_receive;
mod tcp_send;
mod tcp_spec;
mod time_spent;
mod udp_echo;
mod udp_receive;
mod udp_send;

pub use ending::{Ended, Guard};
pub use schedule::{Pattern, Schedule};
pub use system::duplicate;
pub use tcp_info::TcpInfo;
pub use tcp_receive::{Arrivals, Incoming, TcpReceive, receive_tcp};
pub use tcp_send::send_tcp;
pub use tcp_spec::{Samples, SentFlow, TcpFlow, TcpSend, TcpSent};
pub use time_spent::TimeSpent;
pub use udp_echo::{Echo, Echoed, echo_udp};
pub use udp_receive::{Datagrams, UdpReceive, receive_udp};
pub use udp_send::{UdpFlow, UdpSend, UdpSent, send_udp};

/// Why traffic could not be sent or received at all.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// What was asked for makes no sense; the sentence says what.
    #[error("{0}")]
    Wrong(String),
    /// The system refused something.
    #[error("{0}: {1}")]
    System(&'static str, #[source] std::io::Error),
}

impl Failure {
    /// What the system refused, while `doing` something.
    fn system(doing: &'static str) -> impl Fn(nix::errno::Errno) -> Self {
        move |errno| Self::System(doing, errno.into())
    }
}

/// Whether a flow starts after the beginning and stops after it has started.
fn in_order(start_s: f64, stop_s: Option<f64>) -> bool {
    start_s >= 0.0 && stop_s.is_none_or(|stop| stop > start_s)
}
