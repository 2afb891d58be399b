//! `posemill completions` and `posemill man`: what shells and readers of manuals want.

use super::console::Console;
use super::exit::{Exit, Failure};
use clap::Args;
use clap_complete::Shell;

/// Print the completion script of a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    posemill completions bash > ~/.local/share/bash-completion/completions/posemill")]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

/// Prints the completion script.
///
/// # Errors
/// None.
pub fn run(arguments: &Arguments, console: &Console, program: clap::Command) -> Result<Exit, Failure> {
    // Scripts of shells name every command that there is: those that are not for people are left out before.
    let commands = program.get_subcommands().filter(|c| !c.is_hide_set()).cloned();
    let mut shown = clap::Command::new("posemill")
        .version(env!("CARGO_PKG_VERSION"))
        .propagate_version(true)
        .args(program.get_arguments().cloned())
        .subcommands(commands);
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut shown, "posemill", &mut script);
    console.data(&String::from_utf8_lossy(&script));
    Ok(Exit::Good)
}

/// Prints the manual page: the program, then every command.
///
/// # Errors
/// None: memory takes every byte.
pub fn man(console: &Console, mut program: clap::Command) -> Result<Exit, Failure> {
    program.build();
    let mut page = Vec::new();
    let commands = program.get_subcommands().filter(|c| c.get_name() != "help" && !c.is_hide_set()).cloned();
    for command in std::iter::once(program.clone()).chain(commands) {
        let name = command.get_bin_name().unwrap_or("posemill").replace(' ', "-");
        let rendered = clap_mangen::Man::new(command).title(name).render(&mut page);
        rendered.map_err(|e| Failure::Argument(e.to_string()))?;
    }
    console.data(&String::from_utf8_lossy(&page));
    Ok(Exit::Good)
}
