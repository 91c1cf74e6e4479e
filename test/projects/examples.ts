import { done, either, examples, owner, type Spot } from '../contract/example.ts'
import { ed25519 } from '../support/keys.ts'

const token = { name: 'new', scopes: ['api'], expires_at: '2026-06-04' }

function asked(form: 'projects' | 'groups', who: 'stranger' | 'target' = 'target') {
  return async ({ stage, place }: Spot) => {
    const caller = who === 'target' ? stage.target : stage.callers.get(who)
    const id = form === 'projects' ? place.project.id : place.group.id
    await caller?.post(`/${form}/${id}/access_requests`)
    return undefined
  }
}

function member(form: 'projects' | 'groups') {
  return async (spot: Spot) => {
    const id = form === 'projects' ? spot.place.project.id : spot.place.group.id
    await done(spot.stage.world.root, 'POST', `/${form}/${id}/members`, {
      user_id: spot.stage.target.id,
      access_level: 30,
    })
    return { member_id: String(spot.stage.target.id) }
  }
}

function otherGroup({ stage, place }: Spot): string {
  return [...stage.places.values()].find((one) => one !== place)?.group.id ?? ''
}

function idOf({ place }: Spot, form: 'projects' | 'groups'): string {
  return (form === 'projects' ? place.project.id : place.group.id) ?? ''
}

function attribute(form: 'projects' | 'groups') {
  return async (spot: Spot) => {
    const path = `/${form}/${idOf(spot, form)}/custom_attributes/word`
    await done(spot.stage.world.root, 'PUT', path, { value: 'x' })
    return undefined
  }
}

function marked(form: 'projects' | 'groups') {
  return async (spot: Spot) => {
    const id = idOf(spot, form)
    await done(owner(spot), 'DELETE', `/${form}/${id}`)
    // A name that nobody else may take comes with the mark.
    return { id }
  }
}

async function topic({ stage }: Spot) {
  const made = await done(stage.world.root, 'POST', '/topics', { name: 'topic', title: 'Topic' })
  return { id: String(made.id) }
}

async function billable(spot: Spot) {
  await done(owner(spot), 'POST', `/groups/${spot.place.group.id}/members`, {
    user_id: spot.stage.target.id,
    access_level: 30,
  })
  return { user_id: String(spot.stage.target.id) }
}

async function uploaded(spot: Spot) {
  const form = new FormData()
  form.set('file', new Blob(['bytes']), 'file.txt')
  const path = `/projects/${spot.place.project.id}/uploads`
  const reply = await owner(spot).post(path, undefined, { raw: form })
  const [, secret = '', filename = ''] = /uploads\/(\w+)\/(.+)$/.exec(reply.body.url) ?? []
  return { upload_id: String(reply.body.id), secret, filename }
}

const badge = { link_url: 'https://a.example', image_url: 'https://a.example/b' }

export const projectExamples = examples({
  'POST /projects': { body: { name: 'fresh' } },
  'POST /groups': { body: { name: 'fresh', path: 'fresh' } },
  'PUT P': { body: { description: 'changed' } },
  'PUT G': { body: { description: 'changed' } },
  ...either({
    'POST /badges': { body: badge },
    'PUT /badges/:badge_id': { body: { name: 'changed' } },
    'GET /badges/render': { query: badge },
    'POST /access_tokens': { body: token },
    'POST /deploy_tokens': { body: { name: 'new', scopes: ['read_repository'] } },
    'POST /service_accounts': { body: { name: 'new' } },
    'PATCH /service_accounts/:user_id': { body: { name: 'changed' } },
    'POST /service_accounts/:user_id/personal_access_tokens': { body: token },
    'POST /invitations': { body: { email: 'someone@example.com', access_level: 30 } },
    'PUT /invitations/:email': { body: { access_level: 20 } },
    'POST /members': {
      body: ({ stage }) => ({ user_id: stage.target.id, access_level: 30 }),
    },
    'PUT /custom_attributes/:key': { by: 'admin', body: { value: 'x' } },
  }),
  'PUT P/access_requests/:user_id/approve': { prepare: asked('projects') },
  'PUT G/access_requests/:user_id/approve': { prepare: asked('groups') },
  'DELETE P/access_requests/:user_id': { prepare: asked('projects') },
  'DELETE G/access_requests/:user_id': { prepare: asked('groups') },
  'GET P/members/:user_id': { prepare: member('projects') },
  'GET G/members/:user_id': { prepare: member('groups') },
  'GET P/members/all/:user_id': { prepare: member('projects') },
  'GET G/members/all/:user_id': { prepare: member('groups') },
  'PUT P/members/:user_id': { prepare: member('projects'), body: { access_level: 20 } },
  'PUT G/members/:user_id': { prepare: member('groups'), body: { access_level: 20 } },
  'DELETE P/members/:user_id': { prepare: member('projects') },
  'DELETE G/members/:user_id': { prepare: member('groups') },
  'POST P/share': {
    body: (spot) => ({ group_id: Number(otherGroup(spot)), group_access: 30 }),
  },
  'POST G/share': {
    body: (spot) => ({ group_id: Number(otherGroup(spot)), group_access: 30 }),
  },
  'DELETE P/share/:group_id': {
    async prepare(spot) {
      const group = otherGroup(spot)
      await done(owner(spot), 'POST', `/projects/${spot.place.project.id}/share`, {
        group_id: Number(group),
        group_access: 30,
      })
      return { group_id: group }
    },
  },
  'DELETE G/share/:group_id': {
    async prepare(spot) {
      const group = otherGroup(spot)
      await done(owner(spot), 'POST', `/groups/${spot.place.group.id}/share`, {
        group_id: Number(group),
        group_access: 30,
      })
      return { group_id: group }
    },
  },
  'POST P/deploy_keys': { body: () => ({ title: 'new', key: ed25519() }) },
  'PUT P/deploy_keys/:key_id': { body: { title: 'changed' } },
  'POST P/fork': { body: { path: 'forked', name: 'forked' } },
  'PUT P/transfer': {
    async prepare(spot) {
      await done(owner(spot), 'PUT', `/projects/${spot.place.project.id}`, {
        path: 'moving',
        name: 'moving',
      })
      return undefined
    },
    body: (spot) => ({ namespace: otherGroup(spot) }),
  },
  'POST P/unarchive': {
    async prepare(spot) {
      await done(owner(spot), 'POST', `/projects/${spot.place.project.id}/archive`)
      return undefined
    },
  },
  'POST G/unarchive': {
    async prepare(spot) {
      await done(owner(spot), 'POST', `/groups/${spot.place.group.id}/archive`)
      return undefined
    },
  },
  'POST P/uploads': { form: { file: new Blob(['bytes']) } },
  'GET P/uploads/:upload_id': { prepare: uploaded },
  'DELETE P/uploads/:upload_id': { prepare: uploaded },
  'GET P/uploads/:secret/:filename': { prepare: uploaded },
  'DELETE P/uploads/:secret/:filename': { prepare: uploaded },
  'POST P/access_requests': { by: 'stranger' },
  'POST G/access_requests': { by: 'stranger' },
  'POST /projects/user/:user_id': {
    by: 'admin',
    path: ({ stage }) => ({ user_id: String(stage.target.id) }),
    body: { name: 'theirs' },
  },
  'POST P/restore': { prepare: marked('projects') },
  'POST G/restore': { prepare: marked('groups') },
  'POST G/transfer': { by: 'admin', body: (spot) => ({ group_id: Number(otherGroup(spot)) }) },
  'POST G/projects/:project_id': {
    by: 'admin',
    async prepare(spot) {
      const made = await done(owner(spot), 'POST', '/projects', { name: 'mine' })
      return { project_id: String(made.id) }
    },
  },
  'POST P/fork/:forked_from_id': {
    async prepare(spot) {
      const made = await done(owner(spot), 'POST', '/projects', { name: 'mine' })
      return { forked_from_id: String(made.id) }
    },
  },
  'GET P/storage': { by: 'admin' },
  'GET P/snapshot': { by: 'admin' },
  'GET P/avatar': { elsewhere: 'there is no avatar: test/projects/projects' },
  'GET G/avatar': { elsewhere: 'there is no avatar: test/projects/uploads' },
  'GET /topics/:id': { prepare: topic },
  'PUT /topics/:id': { by: 'admin', prepare: topic, body: { title: 'Changed' } },
  'DELETE /topics/:id': { by: 'admin', prepare: topic },
  'POST /topics/merge': { elsewhere: 'takes two topics: test/projects/projects' },
  'POST /deploy_keys': { by: 'admin', body: () => ({ title: 'new', key: ed25519() }) },
  ...Object.fromEntries(
    [
      'GET P/export/download',
      'GET G/export/download',
      'POST /projects/import',
      'POST /groups/import',
      'POST /projects/remote-import',
    ].map((name) => [name, { elsewhere: 'needs a finished export: test/projects/exports' }]),
  ),
  ...Object.fromEntries(
    ['P', 'G'].map((form) => [
      `POST ${form}/access_tokens/self/rotate`,
      { elsewhere: 'tokens of bots alone may call it: test/identity/access-tokens' },
    ]),
  ),
  ...Object.fromEntries(
    [
      'GET G/billable_members/:user_id/memberships',
      'GET G/billable_members/:user_id/indirect',
      'DELETE G/billable_members/:user_id',
    ].map((name) => [name, { prepare: billable }]),
  ),
  'PUT G/members/:member_id/approve': {
    elsewhere: 'needs a waiting member: test/projects/members',
  },
  'PUT G/members/:user_id/state': { elsewhere: 'needs a waiting member: test/projects/members' },
  'POST G/members/:user_id/override': {
    never: 'needs a directory that members come from, which there is not: always 404',
  },
  'DELETE G/members/:user_id/override': {
    never: 'needs a directory that members come from, which there is not: always 404',
  },
  'GET P/custom_attributes/:key': { by: 'admin', prepare: attribute('projects') },
  'GET G/custom_attributes/:key': { by: 'admin', prepare: attribute('groups') },
  'DELETE P/custom_attributes/:key': { by: 'admin', prepare: attribute('projects') },
  'DELETE G/custom_attributes/:key': { by: 'admin', prepare: attribute('groups') },
  'GET /namespaces/:id': { path: ({ place }) => ({ id: place.group.id ?? '' }) },
  'GET /namespaces/:namespace/exists': { path: { namespace: 'any' } },
  'POST /topics': { by: 'admin', body: { name: 'topic', title: 'Topic' } },
})
