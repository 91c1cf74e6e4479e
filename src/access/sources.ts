import type { Ctx } from '../ctx.ts'
import type { GroupAbility, ProjectAbility } from './abilities.ts'
import { type Access, type Group, onGroup, onProject, type Project } from './subjects.ts'

/** What projects and groups have alike is declared once; the first part of its paths tells which it is about. */
export type SourceKind = 'projects' | 'groups'

/** What a source is called in summaries. */
export const sourceWord = { projects: 'project', groups: 'group' } as const

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
export function onEither<T>(
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
