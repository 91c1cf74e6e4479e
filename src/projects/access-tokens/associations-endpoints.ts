import { z } from 'zod'
import { presentProjectIdentity, projectIdentity } from '../../access/project-identity.ts'
import { MEMBER_LEVELS } from '../../access/roles.ts'
import { signedIn } from '../../access/subjects.ts'
import { dayOf } from '../../base/clock.ts'
import { endpoint } from '../../http/endpoint.ts'
import { oneOfNumbers } from '../../http/params.ts'
import { tokenInUse } from '../../identity/access-tokens/access.ts'
import { callerId } from '../../identity/users/find-user.ts'
import { namespaceBriefEntity, namespaceOf, presentNamespaceBrief } from '../namespaces/entity.ts'
import { listGroupsOf, listProjectsOf } from './associations-queries.ts'

/** The answer holds two lists and so can't be paged: it ends here. */
const MOST = 1000

const groupEntity = z.strictObject({
  id: z.int(),
  web_url: z.string(),
  name: z.string(),
  parent_id: z.int().nullable(),
  organization_id: z.int(),
  access_levels: z.int(),
  visibility: z.string(),
})

const projectEntity = z.strictObject({
  ...projectIdentity,
  access_levels: z.strictObject({
    project_access_level: z.int().nullable(),
    group_access_level: z.int().nullable(),
  }),
  visibility: z.string(),
  web_url: z.string(),
  namespace: namespaceBriefEntity,
})

export const getAssociations = endpoint({
  method: 'GET',
  path: '/personal_access_tokens/self/associations',
  summary: 'List the groups and projects that the token of the request can access',
  access: signedIn(),
  scopes: ['any'],
  query: { min_access_level: oneOfNumbers(MEMBER_LEVELS).default(10) },
  response: z.strictObject({ groups: z.array(groupEntity), projects: z.array(projectEntity) }),
  async handler({ ctx, query }) {
    tokenInUse(ctx)
    const { externalUrl } = ctx.config
    const today = dayOf(ctx.now())
    const least = query.min_access_level
    const groups = await listGroupsOf(ctx.db, callerId(ctx), least, today, MOST)
    const projects = await listProjectsOf(ctx.db, callerId(ctx), least, today, MOST)
    return {
      groups: groups.map((row) => ({
        id: row.id,
        web_url: `${externalUrl}/groups/${row.full_path}`,
        name: row.name,
        parent_id: row.parent_id,
        organization_id: 1,
        access_levels: row.level ?? least,
        visibility: row.visibility,
      })),
      projects: projects.map((row) => ({
        ...presentProjectIdentity(row),
        access_levels: {
          project_access_level: row.project_level,
          group_access_level: row.group_level,
        },
        visibility: row.visibility,
        web_url: `${externalUrl}/${row.full_path}`,
        namespace: presentNamespaceBrief(ctx, namespaceOf(row)),
      })),
    }
  },
})
