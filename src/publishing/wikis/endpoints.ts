import type { GroupAbility, ProjectAbility } from '../../access/abilities.ts'
import { type Access, onGroup, onProject } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { wikiEndpoints } from './routes.ts'
import { groupWiki, projectWiki, type Wiki } from './wiki.ts'

type WikiAccess = Access<{ readonly wiki: (ctx: Ctx) => Wiki }>

function onProjectWiki(ability: ProjectAbility): WikiAccess {
  const access = onProject(ability)
  return {
    ...access,
    async find(request) {
      const { project } = await access.find(request)
      return { wiki: (ctx) => projectWiki(ctx, project) }
    },
  }
}

function onGroupWiki(ability: GroupAbility): WikiAccess {
  const access = onGroup(ability)
  return {
    ...access,
    async find(request) {
      const { group } = await access.find(request)
      return { wiki: (ctx) => groupWiki(ctx, group) }
    },
  }
}

export const projectWikis = wikiEndpoints({
  path: '/projects/:id/wikis',
  of: 'project',
  read: onProjectWiki('read_wiki'),
  write: onProjectWiki('create_wiki'),
})

export const groupWikis = wikiEndpoints({
  path: '/groups/:id/wikis',
  of: 'group',
  read: onGroupWiki('read_wiki'),
  write: onGroupWiki('create_wiki'),
})
