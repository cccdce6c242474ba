/** The text below the options in the help of each command. */

const EXIT_CODES = `
Exit codes:
  0    done
  1    failure
  2    usage or configuration
  3    a write session is incomplete and can be recovered
  4    another running process is writing the session's file
  5    a budget or a stop policy ended the turn
  130  interrupted, with no session left open`;

export const PROGRAM = `
The model's text goes to stdout, everything else to stderr.
Every option of \`orion run\` has an environment variable: --base-url is ORION_BASE_URL, and so on.
Settings are read from ~/.config/orion/config.json and the workspace's orion.config.json (see \`orion help trust\`).
${EXIT_CODES}

Examples:
  $ orion demo
  $ orion run --model gpt-4.1 "Write docs/guide.md"
  $ orion list-sessions`;

export const CHAT_FIRST_LINE =
  'For a screen reader set ACCESSIBLE=1 (or use --plain): lines are printed, and none is redrawn.\n';

export const CHAT = `
Type /help in the conversation for its keys and commands.
Leaving is safe at any moment: a file that is being written is saved, and the next start offers it.

Exit codes: 0 done; 1 not done; 2 usage or configuration; 3 a file of this conversation is unfinished and can be recovered.

Examples:
  $ orion chat --model gpt-4.1
  $ orion chat --continue`;

export const RUN = `
Environment:
  OPENAI_API_KEY    the key; optional with --base-url
  OPENAI_BASE_URL   the server (ORION_BASE_URL overrides it)
  ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL
                    the same for --provider anthropic
  ORION_MODEL       the model
  TWO_STAGE_ENABLED if true, two-stage is the default protocol
  ORION_STOP_SECONDS, ORION_STOP_TOKENS
                    stop policy: time and tokens for a turn's model calls (120, 32768), not counting
                    streamed files; --max-turns, --max-seconds and --max-tokens count everything
  MAX_ITERATIONS, MAX_PHASE_CYCLES, CONTROLLER_MAX_TURNS
                    rounds per turn for standard, two-stage and controller (5, 3, 20);
                    docs/guides/turn-limits.md lists all limits
  DATABASE_URL      a Postgres for conversations and traces, instead of a file in .orion

With --recover, provider, model and server come from the session unless an option or the environment sets them.
The prompt then continues the same conversation.
${EXIT_CODES}

Examples:
  $ orion run --model gpt-4.1 "Write a README for this folder"
  $ orion run --provider deepseek "Explain src/main.ts" --mode plan
  $ orion run --base-url http://127.0.0.1:11434/v1 --model qwen3 "Write notes.md"
  $ git diff | orion run --model gpt-4.1 --json - > events.jsonl
  $ orion run --protocol two-stage --max-turns 10 --max-seconds 300 "Tidy up the notes"
  $ orion run --recover yes "And now a summary of it"
  $ orion run --continue "Now a shorter version of it"`;

export const SERVE = `
The first line on stdout is the server's URL; stderr has a log-in link for its page. The log goes to stderr, one line of JSON for each request. Every request
needs the token: ORION_SERVER_TOKEN, or one that is made once and kept in .orion/server/token. Any address
other than loopback requires ORION_SERVER_TOKEN.

By default, nobody is asked. Files inside the workspace are written, and each change can be undone; protected paths, shell
lines that no pattern allows and MCP tools that are not allowed by name are refused, with the reason. With --approve ask,
each of these waits up to 24 hours for a decision over HTTP or on the page.

Ctrl-C and SIGTERM stop it: turns have ORION_DRAIN_SECONDS (30) to end, and the next start continues those that have
not. A second one cuts that time short, and a third one ends it at once. docs/guides/server.md has the details.

With DATABASE_URL, several servers of one machine share the turns of the same folders; ORION_QUEUE=in-process keeps
them for this one. --workers 4 starts four of them on one port, under a parent process that replaces workers that exit
and stops them all with itself.
Servers on several hosts need ORION_SESSIONS=database, and the folders on a volume that they share.
docs/guides/scaling.md has the details.

Exit codes: 0 stopped; 1 failure; 2 usage or configuration; 4 another server has the store; 130 stopped at once

Examples:
  $ orion serve --model gpt-4.1
  $ orion serve --port 0 -C ~/project
  $ DATABASE_URL=postgres://orion@127.0.0.1/orion orion serve --workers 4
  $ ORION_SERVER_TOKEN=… orion serve --host 0.0.0.0 --allow-host orion.example.com`;

export const WEB = `
The link works once, within five minutes. The tab that opens it stays logged in until it is closed or has been unused
for 12 hours, and for seven days at most.

Exit codes: 0 done; 1 no server runs, or it refused; 2 usage or configuration

Examples:
  $ orion web
  $ orion web -C ~/project --sign-out-all`;

export const RECOVER_SESSION = `
Without --finalize, --discard or --out, the model continues where it stopped. Provider, model and server come from
the session unless an option or the environment sets them.

--end-at and --answer answer the question that paused the session; the pause prints the commands that apply.
To cut the text anywhere else, copy it with --out.

If the state directory could not be written, the text was saved in the temporary folder: use --from, as printed,
instead of the id. --max-bytes continues a text that reached the size limit.
${EXIT_CODES}

Examples:
  $ orion recover-session <id>
  $ orion recover-session <id> --finalize
  $ orion recover-session <id> --finalize --end-at 120
  $ orion recover-session <id> --finalize --on-conflict=keep-both
  $ orion recover-session <id> --max-bytes 134217728
  $ orion recover-session <id> --out saved.txt
  $ orion recover-session <id> --discard`;

export const LIST_SESSIONS = `
Status: live (a process is writing it), orphan (can be recovered), damaged or foreign (its text can be copied out).

Exit codes: 0 done, even if the list is empty; 1 failure; 2 usage or configuration

Example:
  $ orion list-sessions --json`;

export const CLEAN_SESSIONS = `
Nothing is deleted at once: cleaned sessions stay recoverable for 30 days, up to 512 MiB in all. Sessions that a
process is writing are left alone.

Exit codes: 0 done; 1 failure; 2 usage or configuration

Examples:
  $ orion clean-sessions
  $ orion clean-sessions --all --yes`;

export const APPLY_PLAN = `
All operations are checked before the first file changes, each against the result of those before it. Operations:
create, append, overwrite, insert, replace, replace_all. Several files change together: if one cannot be written, the
others are reverted. docs/guides/write-plans.md describes the format.

Exit codes: 0 done; 1 an operation failed, or the change was not approved; 2 usage, configuration or an invalid plan

Examples:
  $ orion apply-plan plan.json --dry-run
  $ orion apply-plan plan.json --approve ask
  $ make-plan | orion apply-plan - --json`;

export const UNDO = `
Orion keeps the previous bytes of every changed file for 30 days, up to 512 MiB, with or without git. A file that the
change created is removed. If a file was edited since, it and all others of the same change are left alone. An undo
can itself be undone; running it again goes back one more change.

Exit codes: 0 done; 1 nothing to undo, a file was edited since, or failure; 2 usage or configuration

Examples:
  $ orion undo
  $ orion undo --list
  $ orion undo <id>
  $ orion undo <id> --force`;

export const DOCTOR = `
Checks Node, the configuration, the state directory, the disk, the store, interrupted sessions, the provider, the MCP
servers and the sandbox. Nothing in the workspace is changed, and without --online nothing leaves the machine.

Exit codes: 0 no problem, with or without warnings; 1 a problem; 2 usage

Examples:
  $ orion doctor
  $ orion doctor --online --provider anthropic --model claude-sonnet-4-5
  $ orion doctor --json`;

export const MCP = `
Servers are configured as mcpServers in ~/.config/orion/config.json, or in a workspace's orion.config.json that you
have accepted with \`orion trust\`. docs/guides/mcp-servers.md describes the format.

Exit codes: 0 done; 1 the server cannot be used; 2 usage or configuration

Examples:
  $ orion mcp list
  $ orion mcp test files`;

export const TRUST = `
A workspace may come from somebody else. Its orion.config.json always decides model, protocol, mode and lower limits;
provider, base URL, approvals, allowed paths and everything else take effect only after you have accepted the file.
If the file changes, you need to run \`orion trust\` again.

A store (.orion/orion.db) that you did not create, or that is older than signed stores, is neither read nor written:
turns use a store in memory and say so. This command shows the latest conversations in it and makes it yours. It never
accepts a store that contains anything Orion does not write, a link, or a file of another user.

Exit codes: 0 done; 1 failure; 2 nothing to accept, or an invalid file

Examples:
  $ cat orion.config.json
  $ orion trust
  $ orion trust --revoke`;

const READ_CODES =
  'Exit codes: 0 done, even if there is nothing to show; 1 failure; 2 usage or configuration';

export const CONVERSATIONS = `
Conversations are stored in the workspace's state directory, or in the Postgres that DATABASE_URL names. A file that
was written appears in them as a receipt, never as a second copy of its text.

${READ_CODES}

Examples:
  $ orion conversations list
  $ orion conversations show <id>
  $ orion run --resume <id> "Continue"`;

export const TRACE = `
Traces are stored with the conversations for 30 days, up to about 512 MiB, without secrets and without file content.
ORION_TELEMETRY=otlp also sends turns to an OpenTelemetry collector.

${READ_CODES}

Examples:
  $ orion trace list
  $ orion trace show <request_id>
  $ orion trace export --request <request_id> > turn.jsonl`;

export const OUTPUTS = `
Every command prints JSON on stdout. Outputs are kept for 30 days, up to 512 MiB a project.

Exit codes: 0 done; 1 failure; 2 a wrong path or option

Examples:
  $ orion outputs list
  $ orion outputs extract --path '$.items[*].id'
  $ orion outputs count --path '$.items' --filter '@.open == true' --file issues.json
  $ orion outputs store report.json`;

export const COMPLETION = `
Commands, options, their values, files, and the ids of sessions, conversations, changes, turns and outputs are completed.
docs/guides/completion.md says where each shell keeps the script.

Exit codes: 0 done; 2 usage

Examples:
  $ orion completion bash > ~/.local/share/bash-completion/completions/orion
  $ orion completion zsh > ~/.zfunc/_orion
  $ orion completion fish > ~/.config/fish/completions/orion.fish`;

export const DEMO = `
Needs no key and no network, and works in its own temporary folder.

Exit codes: 0 the recovered file equals the document; 1 it does not`;
