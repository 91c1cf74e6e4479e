import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { Noteable } from '../../discussions/notes/noteable.ts'
import type { Timed, TimedSubject } from '../time-tracking/verbs.ts'

/** What commands want changed: gathered first, so that one change makes them all. */
export interface CommandEdits {
  title?: string
  state_event?: 'close' | 'reopen'
  add_labels?: string[]
  remove_labels?: string[]
  labels?: string[]
  assignee_ids?: number[]
  reviewer_ids?: number[]
  milestone_id?: number | null
  due_date?: string | null
  weight?: number | null
  issue_type?: 'incident'
  confidential?: boolean
  discussion_locked?: boolean
  target_branch?: string
}

/** The issue or merge request that commands are given for, as it was before them. */
export interface CommandContext {
  readonly word: 'issue' | 'merge request'
  readonly id: number
  readonly project: Project
  readonly noteable: Noteable & { readonly id: number }
  readonly title: string
  readonly state: string
  readonly locked: boolean
  readonly milestoneId: number | null
  readonly labels: readonly string[]
  readonly assigneeIds: readonly number[]
  readonly reviewerIds: readonly number[]
  /** The caller may change title and state. */
  readonly mayChange: boolean
  /** The caller may set labels, people, milestone and the like. */
  readonly maySort: boolean
  readonly timed: Timed
  readonly timedSubject: TimedSubject
  readonly edits: CommandEdits
  /** Whether the caller is subscribed although they never said so. */
  followsByDefault(): Promise<boolean>
  save(ctx: Ctx, edits: CommandEdits): Promise<void>
}

export type CommandChanges = Readonly<Record<string, unknown>>

/** What a command comes to: a sentence for who gave it, the words of `commands_changes`, and what is done last. */
export interface CommandDone {
  readonly message: string | (() => string)
  readonly changes?: CommandChanges | ((sum: number) => CommandChanges)
  /** Those of a kind that follow each other are done as one, by the last of them and with the sum of their amounts. */
  readonly sum?: { readonly kind: string; readonly amount: number }
  act?(sum: number): Promise<void>
}

/** Carries a command out, or gives undefined when it can't be, or not by the caller. */
export type Command<Context extends CommandContext> = (
  ctx: Ctx,
  context: Context,
  argument: string,
) => Promise<CommandDone | undefined> | CommandDone | undefined

export type CommandTable<Context extends CommandContext> = Readonly<
  Record<string, Command<Context>>
>

/** A command under several names. */
export function named<Context extends CommandContext>(
  names: readonly string[],
  command: Command<Context>,
): CommandTable<Context> {
  return Object.fromEntries(names.map((name) => [name, command]))
}
