import type { Project } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type AskedCommand, takeCommands } from '../../discussions/notes/commands.ts'
import type { CommandOptions, CommandResult, NoteKind } from '../../discussions/notes/kind.ts'
import type { CommandContext, CommandDone, CommandTable } from './command-context.ts'

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
  ) => runCommands(ctx, await contextOf(ctx, project, id, options), table, asked)
  /** Those in a comment. */
  const read: NonNullable<NoteKind['readCommands']> = async (ctx, noteable, body, options) => {
    const { text, commands } = take(body)
    if (commands.length === 0 && text === body) return undefined
    const { project, id } = noteable
    return { body: text, run: () => run(ctx, project, id ?? 0, commands, options) }
  }
  return { take, run, read }
}

/**
 * Carries commands out one after the other: what they want changed in one change, then what each does beyond that. A
 * command that the caller may not give, or that comes to nothing, is passed over.
 */
async function runCommands<Context extends CommandContext>(
  ctx: Ctx,
  context: Context,
  table: CommandTable<Context>,
  commands: readonly AskedCommand[],
): Promise<CommandResult> {
  const done: CommandDone[] = []
  for (const { name, argument } of commands) {
    const result = await unlessRefused(async () => table[name]?.(ctx, context, argument))
    if (result) done.push(result)
  }
  const saved = await unlessRefused(async () => {
    if (Object.keys(context.edits).length > 0) await context.save(ctx, context.edits)
    return true
  })
  if (!saved) return { changes: {}, summary: [] }
  const kept: CommandDone[] = []
  for (const one of done) {
    const acted = await unlessRefused(async () => {
      await one.act?.()
      return true
    })
    if (acted) kept.push(one)
  }
  const summary = kept.map((one) => sentence(one.message)).join(' ')
  return { changes: mergeChanges(kept), summary: summary === '' ? [] : [summary] }
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

function mergeChanges(done: readonly CommandDone[]): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  for (const { changes: own = {} } of done) {
    for (const [key, value] of Object.entries(own)) {
      const before = changes[key]
      const adds = /^(?:add|remove)_/.test(key) && Array.isArray(before) && Array.isArray(value)
      changes[key] = adds ? [...before, ...value] : value
    }
  }
  return changes
}
