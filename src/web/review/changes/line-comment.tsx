import { apiPath } from '../../address.ts'
import { fragment } from '../../fragment.ts'
import { DiffLines } from '../../parts/diff.tsx'
import { RefusalNote } from '../../parts/form.tsx'
import { projectPage, readProjectFrame } from '../../project/frame.tsx'
import { RequestHead } from '../state.tsx'
import { fileAddress } from './change-set.ts'
import { LineForm } from './line-form.tsx'
import { readLine } from './line-subject.ts'
import { lineName } from './lines.ts'

/** Commenting on a line without script, and the form again where it was refused. */
export const lineCommentPage = projectPage({
  address: '/-/merge_requests/:iid/comments/:line/*file',
  summary: 'Comment on a line of a merge request',
  tab: 'merge_requests',
  signedIn: true,
  api: ({ project, iid }) => apiPath(project, 'merge_requests', iid),
  read: (ctx, { project, ...at }) => readLine(ctx, project, at),
  title: ({ set: { request } }) => `Comment · !${request.iid}`,
  view: (subject, project) => {
    const { set, file, diff, line } = subject
    return (
      <div class="stack">
        <RequestHead project={project} request={set.request} current="diffs" />
        <h2>
          Comment on <code>{file.new_path}</code>
        </h2>
        <RefusalNote />
        {line ? (
          <div class="box">
            {diff && (
              <DiffLines
                file={diff}
                below={(_, one) =>
                  lineName(one) === lineName(line) && <LineForm subject={subject} />
                }
              />
            )}
          </div>
        ) : (
          <LineForm subject={subject} />
        )}
      </div>
    )
  },
})

/** The form alone, to be put below its line. */
export const lineCommentFragment = fragment({
  address: '/*project/-/merge_requests/:iid/comment_form/:line/*file',
  summary: 'The form for a comment on a line of a merge request',
  async read(ctx, { project: path, ...at }) {
    const { project } = await readProjectFrame(ctx, path)
    return await readLine(ctx, project, at)
  },
  view: (subject) => <LineForm subject={subject} quiet={fileAddress(subject.set, subject.file)} />,
})
