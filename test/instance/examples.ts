import { done, examples, owner, type Spot } from '../contract/example.ts'

const search = { query: { scope: 'projects', search: 'p' } }

function audited(form: 'projects' | 'groups') {
  return async (spot: Spot) => {
    const id = form === 'projects' ? spot.place.project.id : spot.place.group.id
    const [event] = await done(owner(spot), 'GET', `/${form}/${id}/audit_events`)
    return { audit_event_id: String(event.id) }
  }
}

export const instanceExamples = examples({
  'GET /search': search,
  'GET G/search': search,
  'GET P/search': { query: { scope: 'blobs', search: 'one' } },
  'POST /api/graphql': { body: { query: '{ currentUser { username } }' } },
  'GET P/audit_events/:audit_event_id': { prepare: audited('projects') },
  'GET G/audit_events/:audit_event_id': { prepare: audited('groups') },
  'GET /audit_events/:id': {
    by: 'admin',
    async prepare({ stage }) {
      const [event] = await done(stage.world.root, 'GET', '/audit_events')
      return { id: String(event.id) }
    },
  },
  ...Object.fromEntries(
    ['GET', 'PUT', 'DELETE'].map((method) => [
      `${method} /broadcast_messages/:id`,
      {
        by: 'admin',
        ...(method === 'PUT' ? { body: { message: 'changed' } } : {}),
        async prepare({ stage }: Spot) {
          const made = await done(stage.world.root, 'POST', '/broadcast_messages', {
            message: 'Hello',
          })
          return { id: String(made.id) }
        },
      },
    ]),
  ),
  'GET /license': { never: 'there is no licence to show: always 404' },
  'GET /templates/dockerfiles/:name': { path: { name: 'Node' } },
  'GET /templates/gitignores/:name': { path: { name: 'Node' } },
  'GET /templates/svc_ci_ymls/:name': { path: { name: 'Nodejs' } },
  'GET /templates/gitlab_ci_ymls/:name': { path: { name: 'Nodejs' } },
  'GET P/templates/:type': { path: { type: 'licenses' } },
  'GET P/templates/:type/:name': { path: { type: 'licenses', name: 'mit' } },
  'POST /broadcast_messages': { by: 'admin', body: { message: 'Hello' } },
  'POST /features/:name': { by: 'admin', path: { name: 'flag' }, body: { value: 'true' } },
  'PUT /application/settings': { by: 'admin', body: { default_branch_name: 'main' } },
  'PUT /application/appearance': { by: 'admin', body: { title: 'Ours' } },
  'PUT /application/plan_limits': { by: 'admin', body: { plan_name: 'default' } },
  'GET /templates/licenses/:key': { path: { key: 'mit' } },
  ...Object.fromEntries(
    ['issues_count', 'merge_requests_count', 'new_members_count'].map((name) => [
      `GET /analytics/group_activity/${name}`,
      {
        query: ({ place }: { place: { visibility: string } }) => ({
          group_path: `${place.visibility}-g`,
        }),
      },
    ]),
  ),
})
