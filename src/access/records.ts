import type { z } from 'zod'
import type { Instant } from '../base/clock.ts'
import type { Problem } from '../base/problem.ts'
import { assertUnmodifiedSince } from '../base/unmodified-since.ts'
import type { Ctx } from '../ctx.ts'
import type { GroupAbility, InstanceAbility, ProjectAbility } from './abilities.ts'
import { type Conditions, judgedBy, mayInInstance, mayInProject, mayInSeenGroup } from './decide.ts'
import {
  type EitherAbility,
  eachAbility,
  eitherOf,
  mayInSource,
  onEither,
  type Source,
} from './sources.ts'
import {
  type Access,
  anyone,
  type Group,
  onGroup,
  onProject,
  type Project,
  refusalOf,
  type SubjectOptions,
  type SubjectRequest,
} from './subjects.ts'

type ParamShape = Readonly<Record<string, z.ZodType>>
type Read<P extends ParamShape> = { readonly [K in keyof P]: z.infer<P[K]> }

/** How a record is found and what about it decides who may do what with it. */
export interface RecordLookup<S, P extends ParamShape, R> {
  /** The path parameters that name the record. */
  readonly params: P
  /** The record as handlers are given it; throws the 404 of a record that is not there or not to be seen. */
  find(given: S & { readonly ctx: Ctx; readonly params: Read<P> }): Promise<R>
  /**
   * When the record changed last, where a DELETE with an older `If-Unmodified-Since` is refused before the caller's right
   * is judged (docs/contract/A-resolved §3).
   */
  updatedAt?(found: R): Instant
  /** Which conditions of the ability table hold between the caller and the record. */
  conditions?(given: S & R & { readonly ctx: Ctx }): Conditions | Promise<Conditions>
}

type Judge<S, R> = (request: SubjectRequest, found: S & R, conditions: Conditions) => boolean

/** Whom a record is for: the ability as the table shows it, who has it, and what refuses the others. */
interface Admission<S, R> {
  readonly needs: string
  readonly may: Judge<S, R>
  readonly refuse?: (() => Problem) | undefined
}

/**
 * The record below what `access` finds, for callers whom `may` admits: 404 for a missing record, then 401 where signing
 * in would help, else 403, or what `refuse` says.
 */
function onRecord<S, O extends string, P extends ParamShape, R>(
  access: Access<S, O>,
  lookup: RecordLookup<S, P, R>,
  { needs, may, refuse }: Admission<S, R>,
): Access<S & R, O | (keyof P & string)> {
  return {
    ...access,
    needs,
    params: { ...access.params, ...lookup.params },
    async find(request) {
      const subject = await access.find(request)
      const { ctx } = request
      const params = request.read(lookup.params)
      const record = await lookup.find({ ...subject, ctx, params })
      if (request.method === 'DELETE' && lookup.updatedAt)
        assertUnmodifiedSince(request, lookup.updatedAt(record))
      const found = { ...subject, ...record }
      const conditions = (await lookup.conditions?.({ ...found, ctx })) ?? {}
      if (may(request, found, conditions)) return found
      throw refuse?.() ?? refusalOf(ctx)
    },
  }
}

/** The refusal that the options give, for subjects of this type. */
function refusalIn({ refuse }: SubjectOptions, type: 'project' | 'group') {
  return refuse && (() => refuse(type))
}

/**
 * Access to a kind of record of projects: `const onIssue = projectRecord('read_issues', {...})`, then
 * `access: onIssue('delete_issue')`. Who lacks `read` in the project never learns whether the record is there.
 */
export function projectRecord<P extends ParamShape, R>(
  read: ProjectAbility,
  lookup: RecordLookup<{ readonly project: Project }, P, R>,
) {
  return (ability: ProjectAbility = read, options: SubjectOptions = {}) =>
    onRecord(onProject(read, options), lookup, {
      needs: ability,
      may: ({ ctx, method }, { project }, conditions) =>
        mayInProject(ctx.actor, judgedBy(method, project), ability, conditions),
      refuse: refusalIn(options, 'project'),
    })
}

/** As `projectRecord`, for records of groups. */
export function groupRecord<P extends ParamShape, R>(
  read: GroupAbility,
  lookup: RecordLookup<{ readonly group: Group }, P, R>,
) {
  return (ability: GroupAbility = read, options: SubjectOptions = {}) =>
    onRecord(onGroup(read, options), lookup, {
      needs: ability,
      may: ({ ctx, method }, { group }, conditions) =>
        mayInSeenGroup(ctx.actor, judgedBy(method, group), ability, conditions),
      refuse: refusalIn(options, 'group'),
    })
}

/** As `projectRecord`, for records that projects and groups have alike, below `/:source/:id/…`. */
export function eitherRecord<P extends ParamShape, R>(
  read: EitherAbility,
  lookup: RecordLookup<{ readonly source: Source }, P, R>,
) {
  return (ability: EitherAbility = read, options: SubjectOptions = {}) => {
    const { forms } = onEither(read, options)
    const needs = eachAbility(ability)
    const may: Judge<{ readonly source: Source }, R> = ({ ctx, method }, { source }, conditions) =>
      mayInSource(ctx, judgedBy(method, source), needs, conditions)
    return eitherOf({
      projects: onRecord(forms.projects, lookup, {
        needs: needs.projects,
        may,
        refuse: refusalIn(options, 'project'),
      }),
      groups: onRecord(forms.groups, lookup, {
        needs: needs.groups,
        may,
        refuse: refusalIn(options, 'group'),
      }),
    })
  }
}

/** As `projectRecord`, for records of the instance, such as users and their keys. */
export function instanceRecord<P extends ParamShape, R>(
  lookup: RecordLookup<Record<never, never>, P, R>,
  before: () => Access<Record<never, never>> = anyone,
) {
  return (ability: InstanceAbility, refuse?: () => Problem) =>
    onRecord(before(), lookup, {
      needs: ability,
      may: ({ ctx }, _found, conditions) => mayInInstance(ctx.actor, ability, conditions),
      refuse,
    })
}
