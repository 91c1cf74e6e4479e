import { done, either, examples, owner } from '../contract/example.ts'

const snippet = {
  title: 'new',
  visibility: 'public',
  file_name: 'b.sh',
  content: 'echo',
}
const file = { file: new Blob(['bytes']) }

export const publishingExamples = examples({
  'POST P/releases': { body: { tag_name: 'v2', name: 'Two' } },
  'PUT P/releases/:tag_name': { body: { name: 'Renamed' } },
  'POST P/releases/:tag_name/assets/links': {
    body: { name: 'other', url: 'https://files.example/b' },
  },
  'PUT P/releases/:tag_name/assets/links/:link_id': { body: { name: 'renamed' } },
  'GET P/releases/permalink/latest/*suffix_path': { path: { suffix_path: 'assets/links' } },
  'GET P/releases/:tag_name/downloads/*direct_asset_path': { path: { direct_asset_path: 'bin/a' } },
  'POST P/snippets': { body: snippet },
  'PUT P/snippets/:snippet_id': { body: { title: 'changed' } },
  'GET P/snippets/:snippet_id/files/:ref/:file_path/raw': {
    path: { ref: 'main', file_path: 'a.sh' },
  },
  'POST /snippets': { body: snippet },
  'PUT /snippets/:id': { body: { title: 'changed' } },
  'GET /snippets/:id/files/:ref/:file_path/raw': {
    async prepare(spot) {
      const made = await done(owner(spot), 'POST', '/snippets', snippet)
      return { id: String(made.id), ref: 'main', file_path: 'b.sh' }
    },
  },
  'GET P/snippets/:snippet_id/user_agent_detail': { by: 'admin' },
  'GET P/releases/:tag_name/evidence/:evidence_id': {
    async prepare(spot) {
      const path = `/projects/${spot.place.project.id}/releases/v1`
      await done(owner(spot), 'POST', `${path}/evidence`)
      const release = await done(owner(spot), 'GET', path)
      return { evidence_id: release.evidences[0].filepath.match(/(\d+)\.json$/)?.[1] ?? '1' }
    },
  },
  ...either({
    'POST /wikis': { body: { title: 'fresh', content: 'text' } },
    'PUT /wikis/:slug': { body: { content: 'changed' } },
    'POST /wikis/attachments': { form: file },
  }),
})
