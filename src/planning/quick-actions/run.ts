import type { Project } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type AskedCommand, takeCommands } from '../../discussions/notes/commands.ts'
import type { CommandOptions, CommandResult, NoteKind } from '../../discussions/notes/kind.ts'
import type {
  CommandChanges,
  CommandContext,
  CommandDone,
  CommandTable,
} from './command-context.ts'

/** The quick actions of issues or of merge requests; `contextOf` reads the one of this id as it is before them. */
export function quickActions<Context extends CommandContext>(
  table: CommandTable<Context>,
  contextOf: (ctx: Ctx, project: Project, id: number, options: CommandOptions) => Promise<Context>,
) {
  const known = new Set(Object.keys(table))
  /** Takes them out of a text. */
  const take = (text: string) => takeCommands(text, known)
  /** Carries them out. */
  const run = async (
    ctx: Ctx,
    project: Project,
    id: number,
    asked: readonly AskedCommand[],
    options: CommandOptions = {},
  ) => runCommands(ctx, await contextOf(ctx, project, id, options), table, asked, options.signal)
  /** Those in a comment. */
  const read: NonNullable<NoteKind['readCommands']> = async (ctx, noteable, body, options) => {
    const { text, commands } = take(body)
    if (commands.length === 0 && text === body) return undefined
    const { project, id } = noteable
    return { body: text, run: () => run(ctx, project, id ?? 0, commands, options) }
  }
  return { take, run, read }
}

/** Commands that one text may give: each may change much, and notify many. */
const MOST_COMMANDS = 50

/**
 * Carries commands out one after the other: what they want changed in one change, then what each does beyond that. A
 * command that the caller may not give, or that comes to nothing, is passed over.
 */
async function runCommands<Context extends CommandContext>(
  ctx: Ctx,
  context: Context,
  table: CommandTable<Context>,
  asked: readonly AskedCommand[],
  signal: AbortSignal | undefined,
): Promise<CommandResult> {
  const done: CommandDone[] = []
  for (const { name, argument } of asked.slice(0, MOST_COMMANDS)) {
    if (signal?.aborted) return nothing
    const result = await unlessRefused(async () => table[name]?.(ctx, context, argument))
    if (result) done.push(result)
  }
  const saved = await unlessRefused(async () => {
    if (Object.keys(context.edits).length > 0) await context.save(ctx, context.edits)
    return true
  })
  if (!saved) return nothing
  const { sentences, changes } = await act(done, signal)
  const left = asked.length - MOST_COMMANDS
  if (left > 0) {
    const count = left === 1 ? '1 more command was' : `${left} more commands were`
    sentences.push(`${count} not carried out: a text may give ${MOST_COMMANDS}.`)
  }
  return {
    changes: mergeChanges(changes),
    summary: sentences.length === 0 ? [] : [sentences.join(' ')],
  }
}

/** Does what commands do beyond the one change. */
async function act(done: readonly CommandDone[], signal: AbortSignal | undefined) {
  const sentences: string[] = []
  const changes: CommandChanges[] = []
  for (const some of summed(done)) {
    if (signal?.aborted) break
    const sum = some.reduce((so, one) => so + (one.sum?.amount ?? 0), 0)
    const acted = await unlessRefused(async () => {
      await some.at(-1)?.act?.(sum)
      return true
    })
    if (!acted) continue
    for (const { message, changes: own } of some) {
      sentences.push(sentence(message))
      if (own) changes.push(typeof own === 'function' ? own(sum) : own)
    }
  }
  return { sentences, changes }
}

const nothing: CommandResult = { changes: {}, summary: [] }

/** What is done, those of a kind that follow each other together. What only adds to the one change lies between nothing. */
function summed(done: readonly CommandDone[]): CommandDone[][] {
  const groups: CommandDone[][] = []
  let open: { readonly kind: string; readonly group: CommandDone[] } | undefined
  for (const one of done) {
    const kind = one.sum?.kind
    if (kind !== undefined && open?.kind === kind) {
      open.group.push(one)
      continue
    }
    const group = [one]
    groups.push(group)
    if (kind !== undefined) open = { kind, group }
    else if (one.act) open = undefined
  }
  return groups
}

function sentence(message: string | (() => string)): string {
  return typeof message === 'string' ? message : message()
}

/** What a problem of the caller's making stops counts as not done; anything else is a bug. */
async function unlessRefused<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

function mergeChanges(all: readonly CommandChanges[]): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  for (const own of all) {
    for (const [key, value] of Object.entries(own)) {
      const before = changes[key]
      const adds = /^(?:add|remove)_/.test(key) && Array.isArray(before) && Array.isArray(value)
      changes[key] = adds ? [...before, ...value] : value
    }
  }
  return changes
}
