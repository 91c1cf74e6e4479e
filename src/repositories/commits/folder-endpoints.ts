import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { oneOf, text } from '../../http/params.ts'
import { codeRead, refOrDefault } from '../repository/access.ts'
import { presentTreeEntry, treeEntryEntity } from '../repository/entity.ts'
import { listTree } from '../repository/list-tree.ts'
import { commitEntity, presentCommit } from './entity.ts'
import { lastCommitsOf } from './last-commits.ts'

/** An entry with the last commit that changed it. */
const committedEntryEntity = treeEntryEntity.extend({ commit: commitEntity.nullable() })

export const listLastCommits = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/last_commits',
  summary: 'List the entries of a folder, each with the last commit that changed it',
  ...codeRead(),
  query: {
    path: text().optional(),
    ref: text().optional(),
    pagination: oneOf(['legacy', 'keyset']).default('legacy'),
  },
  paginate: { token: 'page_token' },
  response: z.array(committedEntryEntity),
  async handler({ ctx, project, repo, query, page, request }) {
    const asked = { ref: refOrDefault(project, query.ref), path: query.path ?? '' }
    const listing = await listTree(repo, { ...asked, recursive: false }, page, request.signal)
    const commits = await lastCommitsOf(repo, asked, listing.items, request.signal)
    const items = listing.items.map((entry) => {
      const commit = commits.get(entry.name)
      const shown = commit ? presentCommit(ctx, project, commit) : null
      return { ...presentTreeEntry(entry), commit: shown }
    })
    return { ...listing, items }
  },
})
