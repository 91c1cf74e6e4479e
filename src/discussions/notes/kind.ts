import type { ProjectAbility } from '../../access/abilities.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { Shape } from '../../http/endpoint.ts'
import type { NoteRow } from './entity.ts'
import type { Noteable, Position } from './noteable.ts'

/** A diff position as a request gives it, read but not checked against any diff. */
export type AskedPosition = Partial<Omit<Position, 'line_range'>> & {
  readonly line_range?: unknown
}

/** What quick actions did (docs/contract/D §1.11). */
export interface CommandResult {
  readonly changes: Readonly<Record<string, unknown>>
  readonly summary: readonly string[]
}

/** The quick actions of a body, read but not carried out. */
export interface CommandPlan {
  /** What is left of the body. */
  readonly body: string
  run(): Promise<CommandResult>
}

/** What a request says beside the body, for the quick actions that ask for it. */
export interface CommandOptions {
  /** The head that the caller saw: `/merge` asks for it. */
  readonly headSha?: string | undefined
  /** Fires when the caller goes away: nothing more is carried out for them. */
  readonly signal?: AbortSignal | undefined
}

/** One kind of thing that notes hang on, as the routes need to know it. */
export interface NoteKind {
  /** `/projects/:id/issues/:issue_iid` */
  readonly path: string
  /** The parameters of the path beside `:id`. */
  readonly params: Shape
  readonly tag: string
  /** What it takes to see the thing. */
  readonly ability: ProjectAbility
  /** Threads can be resolved. */
  readonly resolvable: boolean
  /** Jobs read its notes with their tokens (docs/contract/D §2.5). */
  readonly jobToken?: true
  /** The thing that the path names; 404 when the caller may not see it. */
  find(ctx: Ctx, project: Project, params: Readonly<Record<string, unknown>>): Promise<Noteable>
  /** Checks a diff position and completes it; 400 when it does not fit. Absent: positions are ignored. */
  place?(
    ctx: Ctx,
    noteable: Noteable,
    asked: AskedPosition,
  ): Promise<{ readonly position: Position; readonly lineCode: string }>
  /** Checks that a commit belongs to the thing; 404 when not. Absent: no commit can be named. */
  assertCommit?(ctx: Ctx, noteable: Noteable, sha: string): Promise<void>
  /** Runs in the transaction that adds a note: mentions, events, to-dos, webhooks. */
  afterNote?(ctx: Ctx, noteable: Noteable, row: NoteRow): Promise<void>
  /** Runs in the transaction that changes the text of a note: new mentions. */
  afterEdit?(ctx: Ctx, noteable: Noteable, row: NoteRow): Promise<void>
  /** Runs after a note was added or its text changed, outside of that transaction: what takes git. */
  afterSaved?(ctx: Ctx, noteable: Noteable, row: NoteRow): Promise<void>
  /** Takes known lines that begin with `/` off the body; undefined when there is none. */
  readCommands?(
    ctx: Ctx,
    noteable: Noteable,
    body: string,
    options: CommandOptions,
  ): Promise<CommandPlan | undefined>
}
