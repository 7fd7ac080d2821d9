//! Ports: descriptors from which one packet is read and to which one is written at a time.

use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::unistd::{read, write};

/// A packet that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// Its bytes.
    pub length: usize,
    /// When the kernel got it, since 1970, if it says so.
    pub stamp: Option<Duration>,
}

/// Where packets come from and go to. Nothing blocks.
pub trait Port {
    /// The next packet, if there is one.
    ///
    /// # Errors
    /// The descriptor does not work any more.
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<Read>>;

    /// Writes a packet. False if there is no room at the moment.
    ///
    /// # Errors
    /// The descriptor does not work any more.
    fn send(&mut self, packet: &[u8]) -> io::Result<bool>;

    /// What to wait for.
    fn descriptor(&self) -> BorrowedFd<'_>;
}

/// A TUN device without packet information, or a datagram socket.
#[derive(Debug)]
pub struct Datagrams(OwnedFd);

impl Datagrams {
    /// Takes over a descriptor.
    ///
    /// # Errors
    /// It cannot be made not to block.
    pub fn new(descriptor: OwnedFd) -> io::Result<Self> {
        let flags = OFlag::from_bits_retain(fcntl(&descriptor, FcntlArg::F_GETFL)?);
        fcntl(&descriptor, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
        Ok(Self(descriptor))
    }
}

impl Port for Datagrams {
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<Read>> {
        match read(&self.0, into) {
            Ok(0) => Err(closed()),
            Ok(length) => Ok(Some(Read { length, stamp: None })),
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<bool> {
        taken(write(&self.0, packet))
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A packet socket that is bound to a device. The kernel says when each frame came.
#[derive(Debug)]
pub struct Frames {
    socket: Datagrams,
    ancillary: Vec<u8>,
}

impl Frames {
    /// Takes over a socket.
    ///
    /// # Errors
    /// It gives no times of arrival, or cannot be made not to block.
    pub fn new(socket: OwnedFd) -> io::Result<Self> {
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        Ok(Self { socket: Datagrams::new(socket)?, ancillary: nix::cmsg_space!(nix::sys::time::TimeSpec) })
    }
}

impl Port for Frames {
    fn receive(&mut self, into: &mut [u8]) -> io::Result<Option<Read>> {
        let mut slices = [IoSliceMut::new(into)];
        let descriptor = self.socket.0.as_raw_fd();
        match recvmsg::<()>(descriptor, &mut slices, Some(&mut self.ancillary), MsgFlags::MSG_DONTWAIT) {
            Ok(message) if message.bytes == 0 => Err(closed()),
            Ok(message) => {
                let stamp = message.cmsgs()?.find_map(|message| match message {
                    ControlMessageOwned::ScmTimestampns(time) => Some(Duration::from(time)),
                    _ => None,
                });
                Ok(Some(Read { length: message.bytes, stamp }))
            }
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<bool> {
        self.socket.send(packet)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.descriptor()
    }
}

fn taken(written: nix::Result<usize>) -> io::Result<bool> {
    match written {
        Ok(_) => Ok(true),
        Err(Errno::EAGAIN | Errno::EINTR | Errno::ENOBUFS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "its other end was closed")
}
