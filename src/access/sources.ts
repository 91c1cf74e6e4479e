import type { Ctx } from '../ctx.ts'
import type { GroupAbility, ProjectAbility } from './abilities.ts'
import { type Conditions, mayInProject, mayInSeenGroup } from './decide.ts'
import {
  type Access,
  type Group,
  onGroup,
  onProject,
  type Project,
  type SubjectOptions,
} from './subjects.ts'

/** What projects and groups have alike is declared once; the first part of its paths says which it is about. */
export type SourceKind = 'projects' | 'groups'

/** What a source is called in summaries. */
export const sourceWord = { projects: 'project', groups: 'group' } as const

/** Which project or group, as the rows of what belongs to either name it. */
export interface SourceRef {
  readonly type: 'project' | 'group'
  readonly id: number
}

/** A project or group, where the same is done with both. */
export type Source = SourceOf<Project, 'project'> | SourceOf<Group, 'group'>

type SourceOf<S, T> = S & {
  readonly type: T
  /** The namespace where inheritance begins: the group itself, or the project's namespace. */
  readonly namespaceId: number
}

export function projectSource(project: Project): SourceOf<Project, 'project'> {
  return { ...project, type: 'project', namespaceId: project.namespace_id }
}

export function groupSource(group: Group): SourceOf<Group, 'group'> {
  return { ...group, type: 'group', namespaceId: group.id }
}

/** Puts the two forms together; the first stands for both where only types are asked. */
export function eitherOf<S, O extends string = never>(
  forms: Readonly<Record<SourceKind, Access<S, O>>>,
): Access<S, O | 'source' | 'id'> & { readonly forms: typeof forms } {
  return { ...forms.projects, forms }
}

interface Abilities {
  readonly projects: ProjectAbility
  readonly groups: GroupAbility
}

/** The abilities that something of either takes: one name where projects and groups share it. */
export type EitherAbility = (ProjectAbility & GroupAbility) | Abilities

/** The ability of each form. */
export function eachAbility(ability: EitherAbility): Abilities {
  return typeof ability === 'string' ? { projects: ability, groups: ability } : ability
}

/** Whether the caller may do this in a project or group, or with a record of it of which `conditions` hold. */
export function mayInSource(
  ctx: Pick<Ctx, 'actor'>,
  source: Source,
  ability: EitherAbility,
  conditions?: Conditions,
): boolean {
  const { projects, groups } = eachAbility(ability)
  if (source.type === 'project') return mayInProject(ctx.actor, source, projects, conditions)
  return mayInSeenGroup(ctx.actor, source, groups, conditions)
}

/** Whoever sees the project or group. */
export const readEither = { projects: 'read_project', groups: 'read_group' } as const

/**
 * The project or group of `/:source/:id/…` for callers with the ability there. A declaration with this access answers
 * for `/projects/:id/…` and `/groups/:id/…` alike.
 */
export function onEither(ability: EitherAbility, options: SubjectOptions = {}) {
  const needs = eachAbility(ability)
  const project = onProject(needs.projects, options)
  const group = onGroup(needs.groups, options)
  return eitherOf<{ readonly source: Source }>({
    projects: {
      ...project,
      find: async (request) => ({ source: projectSource((await project.find(request)).project) }),
    },
    groups: {
      ...group,
      find: async (request) => ({ source: groupSource((await group.find(request)).group) }),
    },
  })
}
