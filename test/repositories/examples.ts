import { done, either, examples, owner } from '../contract/example.ts'

const commit = { branch: 'spare', commit_message: 'Change' }

export const repositoryExamples = examples({
  'POST P/repository/branches': { body: { branch: 'fresh', ref: 'main' } },
  'POST P/repository/tags': { body: { tag_name: 'v3', ref: 'main' } },
  'POST P/repository/commits': {
    body: { ...commit, actions: [{ action: 'create', file_path: 'new.txt', content: 'x' }] },
  },
  'POST P/repository/commits/:sha/cherry_pick': { body: { branch: 'spare' } },
  'POST P/repository/commits/:sha/revert': { body: { branch: 'feature' } },
  'POST P/statuses/:sha': { body: { state: 'success' } },
  'GET P/repository/compare': { query: { from: 'main', to: 'feature' } },
  'GET P/repository/merge_base': { query: { 'refs[]': 'main', refs: 'feature' } },
  'GET P/repository/divergence': { query: { refs: 'feature' } },
  'POST P/repository/changelog': { body: { version: '1.0.0', branch: 'spare', from: 'v1' } },
  'GET P/repository/changelog': { query: { version: '1.0.0', from: 'v1' } },
  'POST P/repository/files/:file_path': {
    path: { file_path: 'new.txt' },
    body: { ...commit, content: 'x' },
  },
  'PUT P/repository/files/:file_path': { body: { ...commit, content: 'changed\n' } },
  'DELETE P/repository/files/:file_path': { body: commit },
  'GET P/repository/files/:file_path': { query: { ref: 'main' } },
  'HEAD P/repository/files/:file_path': { query: { ref: 'main' } },
  'GET P/repository/files/:file_path/blame': { query: { ref: 'main' } },
  'HEAD P/repository/files/:file_path/blame': { query: { ref: 'main' } },
  ...either({
    'POST /protected_branches': { body: { name: 'spare' } },
    'GET /protected_branches/:name': { path: { name: 'main' } },
    'PATCH /protected_branches/:name': { path: { name: 'main' }, body: { allow_force_push: true } },
    'DELETE /protected_branches/:name': { path: { name: 'main' } },
  }),
  ...either({
    'POST /protected_environments': {
      body: { name: 'staging', deploy_access_levels: [{ access_level: 40 }] },
    },
    'GET /protected_environments/:name': { path: { name: 'production' } },
    'PUT /protected_environments/:name': {
      path: { name: 'production' },
      body: { required_approval_count: 1 },
    },
    'DELETE /protected_environments/:name': { path: { name: 'production' } },
  }),
  'GET P/repository/commits/:sha/signature': { elsewhere: 'test/repositories/commits' },
  'GET P/repository/tags/:tag_name/signature': { elsewhere: 'test/repositories/tags' },
  'PUT P/repository/submodules/:submodule': { elsewhere: 'test/repositories/submodules' },
  'POST P/protected_tags': { body: { name: 'w*' } },
  'GET P/protected_tags/:name': { path: { name: 'v*' } },
  'DELETE P/protected_tags/:name': { path: { name: 'v*' } },
  'POST P/remote_mirrors': { body: { url: 'https://mirrors.example/two.git' } },
  'PUT P/remote_mirrors/:mirror_id': { body: { keep_divergent_refs: true } },
  'POST P/remote_mirrors/:mirror_id/sync': {
    async prepare(spot) {
      const { id, mirror_id } = spot.place.project
      await done(owner(spot), 'PUT', `/projects/${id}/remote_mirrors/${mirror_id}`, {
        enabled: true,
      })
      return undefined
    },
  },
  'PUT P/mirror/pull': { body: { url: 'https://mirrors.example/three.git' } },
  'POST P/mirror/pull': {
    async prepare(spot) {
      const body = { url: 'https://mirrors.example/three.git', enabled: true }
      await done(owner(spot), 'PUT', `/projects/${spot.place.project.id}/mirror/pull`, body)
      return undefined
    },
  },
  'PUT P/push_rule': { body: { max_file_size: 50 } },
  'POST P/push_rule': {
    body: { max_file_size: 50 },
    async prepare(spot) {
      await done(owner(spot), 'DELETE', `/projects/${spot.place.project.id}/push_rule`)
      return undefined
    },
  },
})
