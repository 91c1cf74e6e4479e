import { call } from '../../../http/call/call.ts'
import { id } from '../../../http/params.ts'
import { getRangeDiff } from '../../../review/merge-requests/changed-files/endpoints.ts'
import { getProjectMergeRequest } from '../../../review/merge-requests/endpoints.ts'
import { apiPath, withQuery } from '../../address.ts'
import { Blank } from '../../parts/basics.tsx'
import { projectPage } from '../../project/frame.tsx'
import { RequestHead } from '../state.tsx'

/** How the commits of one version became those of another: what a force push did. */
export const rangeDiffPage = projectPage({
  address: '/-/merge_requests/:iid/range_diff',
  summary: 'Commits of two versions of a merge request, compared',
  tab: 'merge_requests',
  query: { from: id(), to: id() },
  api: ({ project, iid, query: { from, to } }) => {
    const versions = { from_version_id: from, to_version_id: to }
    return withQuery(apiPath(project, 'merge_requests', iid, 'range_diff'), versions)
  },
  async read(ctx, { project, iid, query: { from, to } }) {
    const path = { id: project.id, merge_request_iid: iid }
    const [request, { range_diff }] = await Promise.all([
      call(getProjectMergeRequest, ctx, { path }),
      call(getRangeDiff, ctx, { path, query: { from_version_id: from, to_version_id: to } }),
    ])
    return { request, text: range_diff }
  },
  title: ({ request }) => `Versions of ${request.title} · !${request.iid}`,
  view: ({ request, text }, project) => (
    <div class="stack">
      <RequestHead project={project} request={request} current="diffs" />
      <h2>Commit by commit</h2>
      {text === '' && <Blank icon="versions" title="Neither version has commits" />}
      {text === null && <p class="note">These versions are too large to be compared like that.</p>}
      {text !== null && text !== '' && <RangeDiff text={text} />}
    </div>
  ),
})

/** The sign that the line of a pair of commits has between its ids: same, changed, only before, only after. */
const PAIR = /^ *(?:\d+|-): +[0-9a-f-]+ ([=!<>]) +(?:\d+|-): +[0-9a-f-]+ /

const words = { '=': 'same', '!': 'hunk', '<': 'removed', '>': 'added' } as const

function kindOf(line: string): string {
  const sign = PAIR.exec(line)?.[1] as keyof typeof words | undefined // one of the four
  if (sign) return words[sign]
  const [, outer, inner] = /^ {4}([-+ ])([-+ @])?/.exec(line) ?? []
  if (outer === '-') return 'removed'
  if (outer === '+') return 'added'
  return inner === '@' ? 'hunk' : 'same'
}

function RangeDiff({ text }: { text: string }) {
  return (
    <div class="box diff-scroll">
      <table class="diff range-diff">
        <tbody>
          {text
            .trimEnd()
            .split('\n')
            .map((line) => (
              <tr key={line}>
                <td class={`diff-code ${kindOf(line)}`} data-sign="">
                  <code>{line}</code>
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  )
}
