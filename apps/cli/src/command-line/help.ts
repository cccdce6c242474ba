/** What stands below the options in the help of each command. */

const EXIT_CODES = `
Exit codes:
  0    done
  1    failure
  2    usage or configuration
  3    a write session is incomplete and can be recovered
  4    the session is live in another process
  5    a budget or a stop policy ended the turn
  130  interrupted, with no session left open`;

export const PROGRAM = `
Text of the model goes to stdout, everything else to stderr.
Every option of \`orion run\` has an environment variable: --base-url is ORION_BASE_URL, and so on.
Settings stand in ~/.config/orion/config.json and in the workspace's orion.config.json (see \`orion help trust\`).
${EXIT_CODES}

Examples:
  $ orion demo
  $ orion run --model gpt-4.1 "Write docs/guide.md"
  $ orion list-sessions`;

export const RUN = `
Environment:
  OPENAI_API_KEY    the key; needed only without a server of your own
  OPENAI_BASE_URL   the server (ORION_BASE_URL wins)
  ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL
                    the same for --provider anthropic
  ORION_MODEL       the model
  TWO_STAGE_ENABLED true makes two-stage the protocol when none is named
  ORION_STOP_SECONDS, ORION_STOP_TOKENS
                    the stop policy: what a turn's model calls may take (120, 32768); streamed files
                    do not count. --max-turns, --max-seconds and --max-tokens count everything.
  MAX_ITERATIONS, MAX_PHASE_CYCLES, CONTROLLER_MAX_TURNS
                    the rounds of a turn with standard, two-stage and controller (5, 3, 20);
                    docs/guides/turn-limits.md has the other limits
  DATABASE_URL      a Postgres that keeps conversations and traces, instead of a file in .orion

With --recover, provider, model and server are those of the session unless an option or the environment names them;
the prompt then follows in the same conversation.
${EXIT_CODES}

Examples:
  $ orion run --model gpt-4.1 "Write a README for this folder"
  $ orion run --provider deepseek "Explain src/main.ts" --mode plan
  $ orion run --base-url http://127.0.0.1:11434/v1 --model qwen3 "Write notes.md"
  $ git diff | orion run --model gpt-4.1 --json - > events.jsonl
  $ orion run --protocol two-stage --max-turns 10 --max-seconds 300 "Tidy up the notes"
  $ orion run --recover yes "And now a summary of it"
  $ orion run --continue "Now a shorter version of it"`;

export const RECOVER_SESSION = `
Without --finalize, --discard or --out the model goes on where it stopped. Provider, model and server are those of
the session unless they are named here or in the environment.

--end-at and --answer answer the question that the session was paused with, if it was; the commands that can be typed
are printed with it. To cut the text anywhere else, copy it with --out.

--from takes the place of the id where a disk could not hold the session and its text was saved in the temporary
folder; the commands that are printed then have it. --max-bytes goes on with a text that reached the size limit.
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

Exit codes: 0, also when there is none; 1 failure; 2 usage or configuration

Example:
  $ orion list-sessions --json`;

export const CLEAN_SESSIONS = `
Nothing of your text is deleted at once: a session that was put aside stays recoverable for 30 days, as long as there
are no more than 512 MiB of them. Sessions that a process is writing are left alone.

Exit codes: 0 done; 1 failure; 2 usage or configuration

Examples:
  $ orion clean-sessions
  $ orion clean-sessions --all --yes`;

export const APPLY_PLAN = `
All operations are judged before the first file changes, each against what those before it would leave. Operations:
create, append, overwrite, insert, replace, replace_all. Several files change as one: when one cannot be written, the
others are taken back. docs/guides/write-plans.md has the format.

Exit codes: 0 done; 1 an operation failed, or the change was not approved; 2 usage, configuration or no plan

Examples:
  $ orion apply-plan plan.json --dry-run
  $ orion apply-plan plan.json --approve ask
  $ make-plan | orion apply-plan - --json`;

export const UNDO = `
The previous bytes of every changed file are kept for 30 days, at most 512 MiB of them, in any folder, with git or
without. A file that the change made is removed. A file that was edited since is left alone, and so are all others of
the same change. What undo replaces is kept, too: undo the undo to have it again. Repeated, it goes back further.

Exit codes: 0 done; 1 nothing to undo, a file was changed since, or failure; 2 usage or configuration

Examples:
  $ orion undo
  $ orion undo --list
  $ orion undo <id>
  $ orion undo <id> --force`;

export const TRUST = `
A workspace is often somebody else's. Its orion.config.json decides model, protocol, mode and lower limits by itself;
provider, base URL, approvals, allowed paths and everything else in it take effect only once you have accepted the
file. What is accepted is its bytes: a changed file needs a new \`orion trust\`.

A store (.orion/orion.db) that you did not make, or that was made before stores were signed, is neither read nor
written: turns use one in memory and say so. The command shows the latest conversations in it and makes it yours.
One that holds anything but what Orion stores is never taken over, nor is a link or a file of another user.

Exit codes: 0 done; 1 failure; 2 nothing to accept, or an invalid file

Examples:
  $ cat orion.config.json
  $ orion trust
  $ orion trust --revoke`;

const READ_CODES = 'Exit codes: 0, also when there is none; 1 failure; 2 usage or configuration';

export const CONVERSATIONS = `
Conversations are stored in the workspace's state directory, or in the Postgres that DATABASE_URL names. What was
written to files stands in them as a receipt, never as a second copy.

${READ_CODES}

Examples:
  $ orion conversations list
  $ orion conversations show <id>
  $ orion run --resume <id> "Go on"`;

export const TRACE = `
Traces are stored beside the conversations, without secrets and without the content of files: 30 days, and at most
about 512 MiB. ORION_TELEMETRY=otlp sends turns to an OpenTelemetry collector as well.

${READ_CODES}

Examples:
  $ orion trace list
  $ orion trace show <request_id>
  $ orion trace export --request <request_id> > turn.jsonl`;

export const DEMO = `
Needs no key and no network. Works in a temporary folder of its own.

Exit codes: 0 the recovered file is equal to the document; 1 it is not`;
