import type { Ctx } from '../ctx.ts'
import type { GroupAbility, ProjectAbility } from './abilities.ts'
import {
  type Access,
  type Group,
  onGroup,
  onProject,
  type Project,
  type SubjectOptions,
} from './subjects.ts'

/** What projects and groups have alike is declared once; the first part of its paths tells which it is about. */
export type SourceKind = 'projects' | 'groups'

/** What a source is called in summaries. */
export const sourceWord = { projects: 'project', groups: 'group' } as const

/** A project or group, where the same is done with both. */
export type Source = (Project & { readonly kind: 'project' }) | (Group & { readonly kind: 'group' })

/** Puts the two forms together; the first stands for both where only types are asked. */
export function eitherOf<S, O extends string = never>(
  forms: Readonly<Record<SourceKind, Access<S, O>>>,
): Access<S, O | 'source' | 'id'> & { readonly forms: typeof forms } {
  return { ...forms.projects, forms }
}

/**
 * The project or group of `/:source/:id/…` for callers with the ability there. A declaration with this access answers
 * for `/projects/:id/…` and `/groups/:id/…` alike.
 */
export function onEither(
  ability: (ProjectAbility & GroupAbility) | Abilities,
  options: SubjectOptions = {},
) {
  const needs = typeof ability === 'string' ? { projects: ability, groups: ability } : ability
  const project = onProject(needs.projects, options)
  const group = onGroup(needs.groups, options)
  return eitherOf<{ readonly source: Source }>({
    projects: {
      ...project,
      find: async (request) => ({
        source: { ...(await project.find(request)).project, kind: 'project' },
      }),
    },
    groups: {
      ...group,
      find: async (request) => ({
        source: { ...(await group.find(request)).group, kind: 'group' },
      }),
    },
  })
}

interface Abilities {
  readonly projects: ProjectAbility
  readonly groups: GroupAbility
}

/** What handlers are given for a project or group. */
interface Makers<T> {
  readonly project: (project: Project, ctx: Ctx) => T
  readonly group: (group: Group, ctx: Ctx) => T
}

/** The project or group named by `:id`, as one kind of thing, for callers with the ability there. */
export function onKindOfSource<T>(
  kind: SourceKind,
  ability: (ProjectAbility & GroupAbility) | Abilities,
  make: Makers<T>,
  options: Parameters<typeof onProject>[1] = {},
): Access<{ source: T }> {
  const needs = typeof ability === 'string' ? { projects: ability, groups: ability } : ability
  if (kind === 'groups') {
    const access = onGroup(needs.groups, options)
    return {
      ...access,
      async find(request) {
        const { group } = await access.find(request)
        return { source: make.group(group, request.ctx) }
      },
    }
  }
  const access = onProject(needs.projects, options)
  return {
    ...access,
    async find(request) {
      const { project } = await access.find(request)
      return { source: make.project(project, request.ctx) }
    },
  }
}
