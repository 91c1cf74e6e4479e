import { parseArgs } from 'node:util'
import { type Config, readConfig } from '../base/config.ts'
import { Problem } from '../base/problem.ts'
import { GitError } from '../git/error.ts'
import { startFailure } from '../store/sqlite/start-failure.ts'
import { type Answer, type Command, type Given, type Options, UsageError } from './command.ts'
import { commands } from './commands.ts'
import { commonOptions, helpOf, overview } from './help.ts'
import { openProgress, type ProgressStream } from './progress.ts'

/** The ends of a process, so that a test can run a command without one. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly out: { write(text: string): unknown }
  readonly err: ProgressStream
  readInput(): Promise<string>
  /** Asks for a secret, which is not shown; undefined where nobody can be asked. */
  askSecret?(question: string): Promise<string | undefined>
  /** Lets the work of others on this machine go first. */
  giveWay?(): void
  /** Aborts when the operator wants the command to stop. */
  readonly signal: AbortSignal
  /** Becomes the server with these settings; how is the launcher's business. */
  serve(settings: Readonly<Record<string, string>>): Promise<void>
}

type CommonGiven = Given<typeof commonOptions>

/** Runs one command line and gives the exit code: 0, 1 when it failed, 2 when called wrongly, 130 when stopped. */
export async function runCommandLine(
  words: readonly string[],
  terminal: Terminal,
): Promise<number> {
  try {
    return await dispatch(words, terminal)
  } catch (error) {
    if (terminal.signal.aborted) {
      terminal.err.write('gitstead: stopped\n')
      return 130
    }
    terminal.err.write(`gitstead: ${oneLine(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

async function dispatch(words: readonly string[], terminal: Terminal): Promise<number> {
  const [first] = words
  if (first === undefined || first === '--help' || first === '-h' || first === 'help') {
    write(terminal, overview(commands))
    return first === undefined ? 2 : 0
  }
  const one = findCommand(words)
  if (!one) throw new UsageError(noCommand(words))
  const { common, options, args } = parse(one, words.slice(one.name.split(' ').length))
  if (common.help) {
    write(terminal, helpOf(one))
    return 0
  }
  assertArgs(one, args)
  const progress = openProgress(terminal.err)
  const call = {
    args,
    options,
    data: common.data,
    progress,
    signal: terminal.signal,
    readInput: terminal.readInput,
    askSecret: async (question: string) => await terminal.askSecret?.(question),
    serve: (settings: Readonly<Record<string, string>>) =>
      terminal.serve({ ...dataSetting(common), ...settings }),
    config: onceRead(terminal, common),
  }
  if (one.givesWay) terminal.giveWay?.()
  const answer = await one.run(call).finally(() => progress.end())
  if (answer.silent) return 0
  write(terminal, common.json ? [JSON.stringify(answer.data, null, 2)] : answer.lines)
  return answer.exitCode ?? 0
}

function findCommand(words: readonly string[]): Command | undefined {
  const given = words.slice(0, 2).join(' ')
  return commands.find((one) => one.name === given || one.name === words[0])
}

/** What was asked for is none; of the word that several commands begin with, the others are named. */
function noCommand(words: readonly string[]): string {
  const alike = commands.filter(({ name }) => name.startsWith(`${words[0]} `))
  const those = alike.map(({ name }) => name).join(', ')
  const hint = those === '' ? 'see gitstead --help' : `there are ${those}`
  return `no command '${words.slice(0, 2).join(' ')}', ${hint}`
}

function parse(one: Command, words: string[]) {
  const options = { ...one.options, ...commonOptions }
  const config = Object.fromEntries(
    Object.entries<Options[string]>(options).map(([name, { type, short }]) => [
      name,
      short === undefined ? { type } : { type, short },
    ]),
  )
  try {
    const { values, positionals } = parseArgs({
      args: words,
      options: config,
      allowPositionals: true,
    })
    // parseArgs has checked the values against the very options that these types are made of.
    return { common: values as CommonGiven, options: values as Given<Options>, args: positionals }
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(/\.\s/)[0] : String(error)
    throw new UsageError(`${reason} (gitstead ${one.name} --help)`)
  }
}

function assertArgs(one: Command, args: readonly string[]): void {
  const missing = one.args[args.length]
  if (missing !== undefined) {
    throw new UsageError(`<${missing}> is missing (gitstead ${one.name} --help)`)
  }
  if (args.length > one.args.length) {
    throw new UsageError(`'${args[one.args.length]}' is one too many (gitstead ${one.name} --help)`)
  }
}

function onceRead(terminal: Terminal, common: CommonGiven): () => Config {
  let config: Config | undefined
  return () => {
    config ??= readConfig({ ...terminal.environment, ...dataSetting(common) })
    return config
  }
}

function dataSetting(common: CommonGiven): Record<string, string> {
  return common.data === undefined ? {} : { GITSTEAD_DATA: common.data }
}

function write(terminal: Terminal, lines: Answer['lines']): void {
  terminal.out.write(lines.map((line) => `${line}\n`).join(''))
}

/** An expected failure in its own words; anything else is a bug, and keeps its stack for whoever mends it. */
function oneLine(error: unknown): string {
  if (error instanceof UsageError || error instanceof GitError) return error.message
  if (error instanceof Problem) return problemText(error)
  const reason = startFailure(error)
  if (reason !== undefined) return reason
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** `{ email: ['has already been taken'] }` is `email has already been taken`. */
function problemText({ fields, message }: Problem): string {
  // The status is for programs that ask the API.
  if (fields === undefined) return message.replace(/^\d{3} (?:Bad request - |Forbidden - )?/, '')
  return Object.entries(fields)
    .flatMap(([field, texts]) => texts.map((text) => `${field} ${text}`))
    .join(', ')
}
