import { may } from '../../http/call/call.ts'
import { oneOf } from '../../http/params.ts'
import { getGroup } from '../../projects/groups/endpoints.ts'
import { withQuery } from '../address.ts'
import { type Page, pageEndpoint } from '../page.ts'
import { projectOverview } from '../project/overview.tsx'
import { groupPage, groupQuery } from './group.tsx'
import { profilePage } from './profile.tsx'

const address = '/*path'
const query = { ...groupQuery, tab: oneOf(['projects', 'activity']).default('projects') }
const summary = 'A project, a group or a person, at their own path'

/** The page at a path: projects, groups and people share the space of paths. */
export const placePage: Page = {
  address,
  summary,
  place: undefined,
  show: groupPage.show,
  endpoint: pageEndpoint(
    { address, summary, query },
    async (ctx, { path, query: asked }) => {
      const place = String(path)
      if (await may(getGroup, ctx, { path: { id: place } })) {
        return await groupPage.show(ctx, { path: place, query: asked })
      }
      if (place.includes('/')) return await projectOverview.show(ctx, { project: place, query: {} })
      return await profilePage.show(ctx, { username: place, query: asked })
    },
    async (ctx, { path }) => {
      const place = String(path)
      const id = encodeURIComponent(place)
      if (await may(getGroup, ctx, { path: { id: place } })) return `/groups/${id}`
      return place.includes('/') ? `/projects/${id}` : withQuery('/users', { username: place })
    },
  ),
}
