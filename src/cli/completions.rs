//! `posemill completions` and `posemill man`: shell completions and manual pages.

use super::console::Console;
use super::exit::{Exit, Failure};
use crate::stages::written_keys::{listed, nearest};
use clap::Args;
use clap_complete::Shell;

/// Print the completion script of a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    posemill completions bash > ~/.local/share/bash-completion/completions/posemill")]
pub struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

/// Prints the completion script.
///
/// # Errors
/// None.
pub fn run(
    arguments: &CompletionsArguments,
    console: &Console,
    program: clap::Command,
) -> Result<Exit, Failure> {
    // Completion scripts name every command: hidden ones are left out here.
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

/// Print the manual page: of the program and every command, or of one
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill man | man -l -\n  \
    posemill man retarget > ~/.local/share/man/man1/posemill-retarget.1")]
pub struct ManArguments {
    /// A command
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

/// Prints the manual page: the program, then every command; or the one command that is asked for.
///
/// # Errors
/// A [`Failure`] for an unknown command.
pub fn man(arguments: &ManArguments, console: &Console, mut program: clap::Command) -> Result<Exit, Failure> {
    program.build();
    let mut page = Vec::new();
    let shown = |c: &&clap::Command| c.get_name() != "help" && !c.is_hide_set();
    let commands: Vec<clap::Command> = program.get_subcommands().filter(shown).cloned().collect();
    let wanted: Vec<clap::Command> = match &arguments.command {
        None => std::iter::once(program.clone()).chain(commands).collect(),
        Some(name) => match commands.iter().find(|c| c.get_name() == name) {
            Some(command) => vec![command.clone()],
            None => {
                let names: Vec<&str> = commands.iter().map(clap::Command::get_name).collect();
                let known = listed(names.iter().copied());
                let near = nearest(name, names.into_iter());
                let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                let message = format!("there is no command `{name}`{near}\ncommands are {known}");
                return Err(Failure::Argument(message));
            }
        },
    };
    for command in wanted {
        let name = command.get_bin_name().unwrap_or("posemill").replace(' ', "-");
        let rendered = clap_mangen::Man::new(command).title(name).render(&mut page);
        rendered.map_err(|e| Failure::Argument(e.to_string()))?;
    }
    console.data(&String::from_utf8_lossy(&page));
    Ok(Exit::Good)
}
