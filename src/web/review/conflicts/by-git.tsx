import { useShown } from '../../context.ts'
import { CopyButton } from '../../parts/basics.tsx'
import type { ProjectData } from '../../project/frame.tsx'
import type { RequestData } from '../blockers.tsx'

/** A word of a shell command, in quotes where it needs them. */
function word(text: string): string {
  return /^[\w./@:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** The commands that resolve the conflicts of a merge request, on a person's own machine. */
export function Conflicts({ request, project }: { request: RequestData; project: ProjectData }) {
  const { externalUrl } = useShown()
  const isOurs = request.source_project_id === project.id
  const target = `${externalUrl}/${project.path_with_namespace}.git`
  const lines = isOurs
    ? [
        'git fetch origin',
        `git checkout ${word(request.source_branch)}`,
        `git merge ${word(`origin/${request.target_branch}`)}`,
      ]
    : [
        `git checkout ${word(request.source_branch)}`,
        `git fetch ${word(target)} ${word(request.target_branch)}`,
        'git merge FETCH_HEAD',
      ]
  const commands = [
    ...lines,
    '# resolve the conflicts that git names, then:',
    'git commit --all --no-edit',
    `git push origin ${word(request.source_branch)}`,
  ].join('\n')
  return (
    <details class="box">
      <summary class="box-head">Resolve the conflicts with git</summary>
      <div class="box-body row between">
        <pre class="commands">{commands}</pre>
        <CopyButton text={commands} label="Copy these commands" />
      </div>
    </details>
  )
}
