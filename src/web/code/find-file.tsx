import { call } from '../../http/call/call.ts'
import { text } from '../../http/params.ts'
import { findRepositoryFiles } from '../../repositories/files/endpoints.ts'
import { apiPath, withQuery } from '../address.ts'
import { Blank } from '../parts/basics.tsx'
import { Form } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import { projectPage } from '../project/frame.tsx'
import { PathLine } from './path-line.tsx'
import { placeAddress, placeFor, placeOf } from './place.ts'

const MOST = 100

/** A file by a part of its path. */
export const findFilePage = projectPage({
  address: '/-/find_file/*ref_path',
  summary: 'Find a file by its path',
  tab: 'code',
  query: { search: text({ max: 300 }).default('') },
  async api({ project, query: { search }, ref_path }, ctx) {
    const { ref } = await placeFor(ctx, project, ref_path)
    return withQuery(apiPath(project, 'repository', 'file_paths'), { ref, search })
  },
  async read(ctx, { project, query, ref_path }) {
    const { ref } = await placeOf(ctx, project, ref_path)
    const asked = { ref, search: query.search, per_page: MOST }
    const path = { id: project.id }
    const paths = await call(findRepositoryFiles, ctx, { path, query: asked })
    return { place: { ref, path: '' }, search: query.search, paths }
  },
  title: ({ place }) => `Find a file at ${place.ref}`,
  view: ({ place, search, paths }, project) => (
    <div class="stack narrow">
      <h1>Find a file</h1>
      <PathLine project={project} place={place} />
      <Form
        action={placeAddress(project, 'find_file', place)}
        method="get"
        role="search"
        class="row find-file"
        data-search-as-typed="found"
      >
        <input
          type="search"
          name="search"
          value={search}
          placeholder="Part of the path"
          aria-label="Part of the path"
          autocomplete="off"
          autofocus
        />
        <button type="submit" class="button">
          Find
        </button>
      </Form>
      <div id="found" aria-live="polite">
        {paths.length === 0 && <Blank icon="search" title="No files found" />}
        <ul class="list">
          {paths.map((path) => (
            <li key={path}>
              <A class="mono" href={placeAddress(project, 'blob', { ...place, path })}>
                <Icon name="file" class="quiet" /> {path}
              </A>
            </li>
          ))}
        </ul>
        {paths.length === MOST && <p class="quiet">These are the {MOST} that fit best.</p>}
      </div>
    </div>
  ),
})
