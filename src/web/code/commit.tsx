import { call, may } from '../../http/call/call.ts'
import { integer, oneOf, text } from '../../http/params.ts'
import {
  getCommitDiff,
  getSingleCommit,
  listCommitRefs,
} from '../../repositories/commits/endpoints.ts'
import { cherryPickCommit, revertCommit } from '../../repositories/commits/write-endpoints.ts'
import { apiPath, pathOf, withQuery } from '../address.ts'
import { form } from '../form.ts'
import { CopyButton, counted, Pages, Time } from '../parts/basics.tsx'
import { Diff } from '../parts/diff.tsx'
import { LayoutLinks } from '../parts/diff-tree.tsx'
import { Form, RefusalNote } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'
import { type ProjectData, projectPage } from '../project/frame.tsx'
import { CommitPipeline, mayFollowPipeline } from './commit-pipeline.tsx'
import {
  CommentsOn,
  CommitTalk,
  commentForm,
  commentsOn,
  lineOf,
  readTalk,
  SignatureMark,
} from './commit-talk.tsx'
import { placeAddress } from './place.ts'

const PER_PAGE = 100

/** A commit with what it changed. */
export const commitPage = projectPage({
  address: '/-/commit/:sha',
  summary: 'A commit and what it changed',
  tab: 'commits',
  query: {
    view: oneOf(['unified', 'split']).default('unified'),
    page: integer({ min: 1 }).default(1),
    /** The line that a comment is to be on. */
    path: text({ max: 4096 }).optional(),
    line: integer({ min: 1 }).optional(),
    line_type: oneOf(['new', 'old']).default('new'),
  },
  api: ({ project, sha }) => apiPath(project, 'repository', 'commits', sha),
  async read(ctx, { project, sha, query }) {
    const path = { id: project.id, sha }
    const [commit, diff, refs, mayWrite, followsPipeline] = await Promise.all([
      call(getSingleCommit, ctx, { path }),
      call(getCommitDiff, ctx, { path, query: { page: query.page, per_page: PER_PAGE } }),
      call(listCommitRefs, ctx, { path, query: { per_page: 20 } }),
      may(revertCommit, ctx, { path }),
      mayFollowPipeline(ctx, project),
    ])
    const talk = await readTalk(ctx, project, sha)
    return {
      commit,
      diff,
      refs: refs.items,
      mayWrite,
      followsPipeline,
      talk,
      at: query,
      view: query.view,
      page: query.page,
    }
  },
  title: ({ commit }) => `${commit.title} (${commit.short_id})`,
  view: ({ commit, diff, refs, mayWrite, followsPipeline, talk, at, view, page }, project) => {
    const address = pathOf(project.path_with_namespace, '-', 'commit', commit.id)
    const body = commit.message.slice(commit.title.length).trim()
    return (
      <div class="stack">
        <div class="row between">
          <h1>{commit.title === '' ? 'No message' : commit.title}</h1>
          <A class="button" href={placeAddress(project, 'tree', { ref: commit.id, path: '' })}>
            <Icon name="code" /> Files
          </A>
        </div>
        <RefusalNote />
        {body !== '' && <pre class="message">{body}</pre>}
        <p>
          {commit.author_name} <Time at={commit.authored_date} /> ·{' '}
          <span class="mono">{commit.id}</span> <CopyButton text={commit.id} label="Copy the id" />
        </p>
        <p class="row">
          <span class="quiet">{counted(commit.parent_ids.length, 'parent')}</span>
          {commit.parent_ids.map((id) => (
            <A key={id} class="mono" href={pathOf(project.path_with_namespace, '-', 'commit', id)}>
              {id.slice(0, 8)}
            </A>
          ))}
          {commit.stats && (
            <span class="quiet">
              +{commit.stats.additions} −{commit.stats.deletions}
            </span>
          )}
          {refs.map(({ type, name }) => (
            <A
              key={`${type} ${name}`}
              class="label"
              href={placeAddress(project, 'tree', { ref: name, path: '' })}
            >
              <Icon name={type === 'tag' ? 'tag' : 'git-branch'} /> {name}
            </A>
          ))}
        </p>
        <p class="row">
          {talk.signature && <SignatureMark signature={talk.signature} />}
          <CommitPipeline project={project} commit={commit} isFollowed={followsPipeline} />
          <A href={`${address}.patch`}>Patch</A>
          <A href={`${address}.diff`}>Diff</A>
        </p>
        {mayWrite && <Copying project={project} address={address} />}
        <LayoutLinks layout={view} address={(view) => withQuery(address, { view })} />
        <Diff
          files={diff.items}
          layout={view}
          lineAddress={
            talk.mayComment
              ? (file, line) => `${withQuery(address, { view, ...lineOf(file, line) })}#comment`
              : undefined
          }
          below={(file, line) => {
            const comments = commentsOn({ talk, file, line })
            return comments.length > 0 && <CommentsOn comments={comments} />
          }}
          fileAddress={(file) =>
            placeAddress(project, 'blob', { ref: commit.id, path: file.new_path })
          }
          pictures={({ old_path, new_path }) => {
            const parent = commit.parent_ids[0] ?? ''
            const at = (ref: string, path: string) => ({
              at: placeAddress(project, 'raw', { ref, path }),
              of: ref.slice(0, 8),
            })
            return { before: at(parent, old_path), after: at(commit.id, new_path) }
          }}
        />
        <Pages
          page={page}
          perPage={PER_PAGE}
          total={diff.total}
          address={withQuery(address, { view })}
        />
        <CommitTalk address={address} talk={talk} at={at} />
      </div>
    )
  },
})

/** Takes the commit back on a branch, or makes it there once more. */
function Copying({ project, address }: { project: ProjectData; address: string }) {
  return (
    <div class="row">
      {(['revert', 'cherry_pick'] as const).map((verb) => (
        <Form key={verb} action={`${address}/${verb}`} class="row">
          <input
            type="text"
            name="branch"
            value={project.default_branch ?? ''}
            aria-label="Branch"
            required
          />
          <button type="submit" class="button">
            {verb === 'revert' ? 'Revert' : 'Cherry-pick'}
          </button>
        </Form>
      ))}
    </div>
  )
}

const copying = (
  verb: 'revert' | 'cherry_pick',
  endpoint: typeof revertCommit | typeof cherryPickCommit,
) =>
  form({
    address: `/*project/-/commit/:sha/${verb}`,
    summary: verb === 'revert' ? 'Revert a commit' : 'Cherry-pick a commit',
    endpoint: endpoint as typeof revertCommit,
    input: ({ path, fields }) => ({
      path: { id: path.project, sha: path.sha },
      body: { branch: fields.branch },
    }),
    goTo: ({ path, data }) => {
      // Without `dry_run` the answer is the new commit.
      const made = data as { readonly id?: string }
      return pathOf(path.project, '-', 'commit', made.id ?? path.sha)
    },
    flash: verb === 'revert' ? 'The commit was reverted.' : 'The commit was picked.',
  })

export const commitForms = [
  commentForm,
  copying('revert', revertCommit),
  copying('cherry_pick', cherryPickCommit),
]
