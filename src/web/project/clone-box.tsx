import { pathOf } from '../address.ts'
import { useShown } from '../context.ts'
import { CopyButton } from '../parts/basics.tsx'
import { A } from '../parts/link.tsx'
import type { ProjectData } from './frame.tsx'

function httpUrl(project: ProjectData, externalUrl: string): string {
  return project.http_url_to_repo ?? `${externalUrl}/${project.path_with_namespace}.git`
}

/** The address that git clones from. */
export function CloneBox({ project }: { project: ProjectData }) {
  const { externalUrl, hasSsh } = useShown()
  const url = httpUrl(project, externalUrl)
  return (
    <section class="stack tight">
      <h2>Clone</h2>
      <div class="clone row">
        <input type="text" value={url} readOnly aria-label="Address for git over HTTP" />
        <CopyButton text={url} label="Copy the address" />
      </div>
      {hasSsh && (
        <div class="clone row">
          <input
            type="text"
            value={project.ssh_url_to_repo}
            readOnly
            aria-label="Address for git over SSH"
          />
          <CopyButton text={project.ssh_url_to_repo} label="Copy the SSH address" />
        </div>
      )}
    </section>
  )
}

/** Whether the repository is empty, as far as the viewer may know. */
export function isEmpty(project: ProjectData): boolean {
  return 'empty_repo' in project && project.empty_repo === true
}

/** What can be done with a repository that is empty. */
export function EmptyNote({ project, mayPush }: { project: ProjectData; mayPush: boolean }) {
  if (mayPush) return <EmptyRepository project={project} />
  return <p class="note">This repository is empty.</p>
}

/** What to type for a first push, as it works where it stands. */
function EmptyRepository({ project }: { project: ProjectData }) {
  const { externalUrl, viewer } = useShown()
  const url = httpUrl(project, externalUrl)
  const branch = project.default_branch || 'main'
  const fresh = [
    `git clone '${url}'`,
    `cd '${project.path}'`,
    `git switch --create '${branch}'`,
    `echo '# ${project.path}' > README.md`,
    'git add README.md',
    "git commit -m 'Add a README'",
    `git push --set-upstream origin '${branch}'`,
  ].join('\n')
  const known = [`git remote add origin '${url}'`, 'git push --set-upstream origin --all'].join(
    '\n',
  )
  return (
    <section class="box">
      <h2 class="box-head">This repository is empty</h2>
      <div class="box-body stack">
        <p>
          Sign in to git as <code>{viewer?.username}</code>, with your password or an access token.
        </p>
        <Commands title="Start here" text={fresh} />
        <Commands title="Push a repository that you have" text={known} />
        <p>
          Or make <A href={pathOf(project.path_with_namespace, '-', 'new', branch)}>a first file</A>{' '}
          here.
        </p>
      </div>
    </section>
  )
}

function Commands({ title, text }: { title: string; text: string }) {
  return (
    <div class="stack tight">
      <h3 class="row between">
        {title} <CopyButton text={text} label={`Copy: ${title}`} />
      </h3>
      <pre class="commands">{text}</pre>
    </div>
  )
}
