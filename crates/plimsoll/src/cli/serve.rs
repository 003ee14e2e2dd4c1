//! Arguments of `plimsoll serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// Where pages are served unless another address is given: this machine only.
pub const LISTEN: &str = "127.0.0.1:7070";

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// A directory with run files (sets of runs in it count as well), or one run file.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Address and port; port 0 is any free one. Other addresses than those of this machine alone need a token, which is
    /// printed as part of the address to open.
    #[arg(long, value_name = "ADDRESS", default_value = LISTEN)]
    pub listen: SocketAddr,
    /// Use the token in this file instead of a new one; then also on 127.0.0.1.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Serve the run of the process that started this one, until it closes stdin.
    #[arg(long, hide = true)]
    pub beside_run: bool,
}
