import { mayInGroup, mayInProject } from '../../access/decide.ts'
import { eitherRecord } from '../../access/records.ts'
import type { Group, Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { Wiki } from './wiki.ts'

/** The wiki of a project, with what the caller may do with it. */
export function projectWiki(ctx: Ctx, project: Project): Wiki {
  const may = mayInProject(ctx.actor, project, 'create_wiki')
  return {
    name: { kind: 'project_wiki', id: project.id },
    path: project.full_path,
    url: `${ctx.config.externalUrl}/${project.full_path}/-/wikis`,
    projectPath: project.full_path,
    mayRead: mayInProject(ctx.actor, project, 'read_wiki'),
    refusal: may ? undefined : refusalOf(project.archived, 'project'),
  }
}

/** The wiki of a group, with what the caller may do with it. */
export function groupWiki(ctx: Ctx, group: Group): Wiki {
  const may = mayInGroup(ctx.actor, group, 'create_wiki')
  return {
    name: { kind: 'group_wiki', id: group.id },
    path: group.full_path,
    url: `${ctx.config.externalUrl}/groups/${group.full_path}/-/wikis`,
    projectPath: null,
    mayRead: mayInGroup(ctx.actor, group, 'read_wiki'),
    refusal: may ? undefined : refusalOf(group.archived, 'group'),
  }
}

function refusalOf(archived: boolean, what: 'project' | 'group'): string {
  if (archived) return `You can't push code to an archived ${what}.`
  return `You are not allowed to write to this ${what}'s wiki.`
}

/** The wiki of the project or group of `:id`. */
export const onWiki = eitherRecord('read_wiki', {
  params: {},
  find: async ({ ctx, source }) => ({
    wiki: source.type === 'project' ? projectWiki(ctx, source) : groupWiki(ctx, source),
  }),
})
