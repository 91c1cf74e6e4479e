import { z } from 'zod'
import { onInstance, onProject } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { atLeastOne, flag, text } from '../../http/params.ts'
import { listPage } from '../../store/pages.ts'
import { onUserByName } from '../users/access.ts'
import { addsLinkableKey, maintainedBy, onDeployKey, onLinkableKey, renamesKey } from './access.ts'
import { keyBody } from './add-key.ts'
import {
  addDeployKey,
  changeDeployKey,
  createInstanceDeployKey,
  enableDeployKey,
  removeDeployKey,
} from './deploy-key-verbs.ts'
import {
  deployKeyEntity,
  instanceDeployKeyEntity,
  presentDeployKey,
  presentInstanceDeployKey,
  presentKey,
  sshKeyEntity,
} from './entity.ts'
import {
  deployKeysQuery,
  keysOfMaintainerQuery,
  listProjectsOfKeys,
  projectKeysQuery,
} from './queries.ts'

export const listInstanceDeployKeys = endpoint({
  method: 'GET',
  path: '/deploy_keys',
  summary: 'List every deploy key of the instance',
  access: onInstance(),
  query: { public: flag().optional() },
  paginate: 'offset',
  response: z.array(instanceDeployKeyEntity),
  async handler({ ctx, query, page }) {
    const rows = await listPage(ctx.db, deployKeysQuery(ctx.db, query.public ?? false), page)
    const projects = await listProjectsOfKeys(
      ctx.db,
      rows.items.map((row) => row.id),
    )
    return { ...rows, items: rows.items.map((row) => presentInstanceDeployKey(row, projects)) }
  },
})

export const createInstanceKey = endpoint({
  method: 'POST',
  path: '/deploy_keys',
  summary: 'Create a public deploy key',
  access: onInstance(),
  body: keyBody,
  response: instanceDeployKeyEntity,
  handler: async ({ ctx, body }) =>
    presentInstanceDeployKey(await createInstanceDeployKey(ctx, body), []),
})

export const listProjectDeployKeys = endpoint({
  method: 'GET',
  path: '/projects/:id/deploy_keys',
  summary: 'List the deploy keys of a project',
  access: onProject('read_deploy_keys'),
  paginate: 'offset',
  response: z.array(deployKeyEntity),
  async handler({ ctx, project, page }) {
    const rows = await listPage(ctx.db, projectKeysQuery(ctx.db, project.id), page)
    return { ...rows, items: rows.items.map(presentDeployKey) }
  },
})

export const getProjectDeployKey = endpoint({
  method: 'GET',
  path: '/projects/:id/deploy_keys/:key_id',
  summary: 'Get a deploy key of a project',
  access: onDeployKey(),
  response: deployKeyEntity,
  handler: ({ key }) => presentDeployKey(key),
})

export const addProjectDeployKey = endpoint({
  method: 'POST',
  path: '/projects/:id/deploy_keys',
  summary: 'Add a deploy key to a project',
  access: onProject('admin_deploy_keys'),
  body: { ...keyBody, can_push: flag().optional() },
  conditions: [addsLinkableKey],
  response: deployKeyEntity,
  handler: async ({ ctx, project, body }) =>
    presentDeployKey(await addDeployKey(ctx, project.id, body)),
})

export const changeProjectDeployKey = endpoint({
  method: 'PUT',
  path: '/projects/:id/deploy_keys/:key_id',
  summary: 'Change a deploy key of a project',
  access: onDeployKey('admin_deploy_keys'),
  body: { title: text({ max: 10_000 }).optional(), can_push: flag().optional() },
  check: atLeastOne(['title', 'can_push']),
  conditions: [renamesKey],
  response: deployKeyEntity,
  handler: async ({ ctx, project, key, body }) =>
    presentDeployKey(await changeDeployKey(ctx, project.id, key.id, body)),
})

export const removeProjectDeployKey = endpoint({
  method: 'DELETE',
  path: '/projects/:id/deploy_keys/:key_id',
  summary: 'Take a deploy key from a project',
  access: onDeployKey('admin_deploy_keys'),
  handler: ({ ctx, project, key }) => removeDeployKey(ctx, project.id, key.id),
})

export const enableProjectDeployKey = endpoint({
  method: 'POST',
  path: '/projects/:id/deploy_keys/:key_id/enable',
  summary: 'Enable a deploy key of another project',
  access: onLinkableKey(),
  response: deployKeyEntity,
  handler: async ({ ctx, project, key }) =>
    presentDeployKey(await enableDeployKey(ctx, project.id, key)),
})

export const listDeployKeysOfUser = endpoint({
  method: 'GET',
  path: '/users/:user_id/project_deploy_keys',
  summary: 'List the deploy keys of the projects that a user maintains',
  access: onUserByName('read_user_details'),
  paginate: 'offset',
  response: z.array(sshKeyEntity),
  async handler({ ctx, user, page }) {
    const query = keysOfMaintainerQuery(ctx.db, maintainedBy(ctx, user.id))
    const rows = await listPage(ctx.db, query, page)
    return { ...rows, items: rows.items.map(presentKey) }
  },
})
