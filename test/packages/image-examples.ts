import { done, examples, owner, type Spot } from '../contract/example.ts'
import { pushImage } from './container-registry/push-image.ts'

const basic = 'images are asked for by Bearer or Basic, with an image that was pushed'

const signedIn = (path: string) => [path, { elsewhere: basic }]

const images = Object.fromEntries(
  [
    'GET /v2',
    'GET /v2/*name/blobs/:digest',
    'DELETE /v2/*name/blobs/:digest',
    'GET /v2/*name/manifests/:reference',
    'PUT /v2/*name/manifests/:reference',
    'DELETE /v2/*name/manifests/:reference',
    'GET /v2/*name/tags/list',
    'GET /v2/*name/referrers/:digest',
    'POST /v2/*name/blobs/uploads',
    'GET /v2/*name/blobs/uploads/:upload_id',
    'PATCH /v2/*name/blobs/uploads/:upload_id',
    'PUT /v2/*name/blobs/uploads/:upload_id',
    'DELETE /v2/*name/blobs/uploads/:upload_id',
  ].map(signedIn),
)

const ROOT = '/virtual_registries/packages/maven'
const upstream = { url: 'https://repo.example.com/maven', name: 'one' }

async function registered(spot: Spot) {
  const path = `/groups/${spot.place.group.id}/-${ROOT}/registries`
  const made = await done(owner(spot), 'POST', path, { name: 'contract' })
  return { registry_id: String(made.id) }
}

async function withUpstream(spot: Spot) {
  const { registry_id } = await registered(spot)
  const path = `${ROOT}/registries/${registry_id}/upstreams`
  const made = await done(owner(spot), 'POST', path, upstream)
  return {
    registry_id,
    upstream_id: String(made.id),
    registry_upstream_id: String(made.registry_upstream.id),
  }
}

async function ruled(spot: Spot) {
  await done(
    owner(spot),
    'POST',
    `/groups/${spot.place.group.id}/-/virtual_registries/cleanup/policy`,
    {
      enabled: true,
    },
  )
  return undefined
}

const fetching = 'it asks another server'
const registries = `${ROOT}/registries/:registry_id`
const upstreams = `${ROOT}/upstreams/:upstream_id`
const links = `${ROOT}/registry_upstreams`
const policy = 'G/-/virtual_registries/cleanup/policy'

const virtual = {
  [`POST G/-${ROOT}/registries`]: { body: { name: 'contract' } },
  [`POST G/-${ROOT}/upstreams/test`]: { body: { url: upstream.url }, elsewhere: fetching },
  [`GET ${registries}`]: { prepare: registered },
  [`PATCH ${registries}`]: { prepare: registered, body: { name: 'other' } },
  [`DELETE ${registries}`]: { prepare: registered },
  [`DELETE ${registries}/cache`]: { prepare: registered },
  [`GET ${registries}/upstreams`]: { prepare: withUpstream },
  [`POST ${registries}/upstreams`]: { prepare: registered, body: upstream },
  [`GET ${upstreams}`]: { prepare: withUpstream },
  [`PATCH ${upstreams}`]: { prepare: withUpstream, body: { name: 'other' } },
  [`DELETE ${upstreams}`]: { prepare: withUpstream },
  [`DELETE ${upstreams}/cache`]: { prepare: withUpstream },
  [`GET ${upstreams}/test`]: { prepare: withUpstream, elsewhere: fetching },
  [`POST ${upstreams}/test`]: { prepare: withUpstream, elsewhere: fetching },
  [`GET ${upstreams}/cache_entries`]: { prepare: withUpstream },
  [`POST ${links}`]: {
    body: { registry_id: 1, upstream_id: 1 },
    elsewhere: 'the body names what must be there',
  },
  [`PATCH ${links}/:registry_upstream_id`]: { prepare: withUpstream, body: { position: 1 } },
  [`DELETE ${links}/:registry_upstream_id`]: { prepare: withUpstream },
  [`DELETE ${ROOT}/cache_entries/*entry_id`]: { elsewhere: fetching },
  [`GET ${ROOT}/:registry_id/*path`]: { elsewhere: fetching },
  [`POST ${ROOT}/:registry_id/*path/upload`]: { never: 'nobody publishes there' },
  [`GET ${policy}`]: { prepare: ruled },
  [`POST ${policy}`]: { body: { enabled: true } },
  [`PATCH ${policy}`]: { prepare: ruled, body: { cadence: 14 } },
  [`DELETE ${policy}`]: { prepare: ruled },
}

async function pushed(spot: Spot) {
  const { project } = spot.place
  const project_path = (await done(owner(spot), 'GET', `/projects/${project.id}`))
    .path_with_namespace
  const { answer } = await pushImage(spot.stage.world, owner(spot), `${project_path}/app`, 'v1')
  if (answer.status !== 201) throw new Error(`no image: ${JSON.stringify(answer.body)}`)
  const [row] = await done(owner(spot), 'GET', `/projects/${project.id}/registry/repositories`)
  return { repository_id: String(row.id), tag_name: 'v1' }
}

const tagRule = {
  tag_name_pattern: '^v',
  minimum_access_level_for_push: 'maintainer',
  minimum_access_level_for_delete: 'owner',
}
const tagRules = 'P/registry/protection/tag/rules'

async function tagRuled(spot: Spot) {
  const path = `/projects/${spot.place.project.id}/registry/protection/tag/rules`
  return { protection_rule_id: String((await done(owner(spot), 'POST', path, tagRule)).id) }
}

const repository = 'P/registry/repositories/:repository_id'

const management = {
  'GET /registry/repositories/:id': {
    prepare: async (spot: Spot) => ({ id: (await pushed(spot)).repository_id }),
  },
  [`DELETE ${repository}`]: { prepare: pushed },
  [`GET ${repository}/tags`]: { prepare: pushed },
  [`GET ${repository}/tags/:tag_name`]: { prepare: pushed },
  [`DELETE ${repository}/tags/:tag_name`]: { prepare: pushed },
  [`DELETE ${repository}/tags`]: { prepare: pushed, query: { name_regex_delete: '.*' } },
  [`POST ${tagRules}`]: { body: tagRule },
  [`PATCH ${tagRules}/:protection_rule_id`]: {
    prepare: tagRuled,
    body: { tag_name_pattern: '^w' },
  },
  [`DELETE ${tagRules}/:protection_rule_id`]: { prepare: tagRuled },
}

/** Good requests for images and virtual registries. */
export const imageExamples = examples({ ...images, ...management, ...virtual })
