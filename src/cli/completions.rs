//! `posemill completions` and `posemill man`: shell completions and manual pages.

use super::console::Console;
use super::exit::{Exit, Failure};
use crate::pipeline::write_whole;
use crate::report::{Shown, nearest};
use crate::stages::written_keys::listed;
use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// Print or install the completion script of a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill completions bash --install\n  \
    posemill completions powershell >> $PROFILE")]
pub struct CompletionsArguments {
    /// The shell
    shell: Shell,
    /// Write the script to where the shell looks for it, for this user (bash, zsh, fish)
    #[arg(long)]
    install: bool,
}

/// Where a shell looks for the scripts of a user.
fn installed(shell: Shell) -> Result<PathBuf, Failure> {
    let folder = |variable: &str, below: &str| {
        let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        set(variable).or_else(|| Some(set("HOME")?.join(below))).ok_or_else(|| {
            Failure::Argument(format!(
                "neither `{variable}` nor `HOME` names a folder\n  hint: set one of them"
            ))
        })
    };
    match shell {
        Shell::Bash => {
            Ok(folder("XDG_DATA_HOME", ".local/share")?.join("bash-completion/completions/posemill"))
        }
        Shell::Zsh => Ok(folder("XDG_DATA_HOME", ".local/share")?.join("zsh/site-functions/_posemill")),
        Shell::Fish => Ok(folder("XDG_CONFIG_HOME", ".config")?.join("fish/completions/posemill.fish")),
        other => Err(Failure::Argument(format!(
            "`{other}` has no folder for completions\n  hint: write them to a file that it reads when it starts: `posemill completions {other}`"
        ))),
    }
}

/// Prints or writes the completion script.
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
    if !arguments.install {
        console.data(&String::from_utf8_lossy(&script));
        return Ok(Exit::Good);
    }
    let path = installed(arguments.shell)?;
    write_whole(&path, &script)?;
    console.note(format!("wrote {}; new shells complete posemill", path.shown()));
    if arguments.shell == Shell::Zsh {
        let folder = path.parent().unwrap_or(&path).shown();
        console
            .note(format!("unless it is there, add to ~/.zshrc, above `compinit`:\n  fpath+=('{folder}')"));
    }
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
                let message = format!("there is no command `{name}`{near}\n  hint: commands are {known}");
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
