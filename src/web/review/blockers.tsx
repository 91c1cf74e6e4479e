import type { ComponentChildren } from 'preact'
import type { DataOf } from '../../http/endpoint.ts'
import type { getMergeRequestApprovals } from '../../review/approvals/request-endpoints.ts'
import type { getProjectMergeRequest } from '../../review/merge-requests/endpoints.ts'
import { counted } from '../parts/basics.tsx'
import { ButtonForm } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import { A } from '../parts/link.tsx'

export type RequestData = DataOf<typeof getProjectMergeRequest>
export type ApprovalData = DataOf<typeof getMergeRequestApprovals>

export interface Abilities {
  readonly edit: boolean
  readonly merge: boolean
  /** Whether they may push to the source branch, where that conflicts. */
  readonly resolve: boolean
}

interface Reason {
  readonly what: string
  /** Who can clear it. */
  readonly who: string
  readonly button?: ComponentChildren
}

/** What each `detailed_merge_status` means, and who can clear it. */
const reasons: Readonly<Record<string, Reason>> = {
  preparing: { what: 'The merge request is being prepared.', who: 'Wait a moment.' },
  checking: { what: 'Git is checking whether it can be merged.', who: 'Wait a moment.' },
  unchecked: { what: 'Nobody has checked yet whether it can be merged.', who: 'Reload the page.' },
  merge_time: {
    what: 'It is not to be merged before a set time.',
    who: 'Wait, or edit that time.',
  },
  commits_status: {
    what: 'The source branch is gone, or has nothing new.',
    who: 'Whoever may push there pushes commits.',
  },
  title_regex: {
    what: 'Its title is not as the project demands.',
    who: 'Editors change the title.',
  },
  locked_lfs_files: {
    what: 'Somebody has locked a file that it changes.',
    who: 'Whoever locked the file unlocks it.',
  },
  approvals_syncing: { what: 'Approvals are being counted again.', who: 'Wait a moment.' },
  requested_changes: {
    what: 'A reviewer asked for changes.',
    who: 'That reviewer approves, or reviews again.',
  },
  merge_request_blocked: {
    what: 'Another merge request must be merged first.',
    who: 'Whoever may merge that one.',
  },
  ci_still_running: { what: 'Its pipeline is still running.', who: 'Wait for the pipeline.' },
  ci_must_pass: {
    what: 'Its pipeline must succeed.',
    who: 'Developers push a fix, or run the failed jobs again.',
  },
}

/** Everything that is known to keep an open merge request from being merged. */
function reasonsOf(
  request: RequestData,
  approvals: ApprovalData | undefined,
  may: Abilities,
  address: string,
): Reason[] {
  const status = request.detailed_merge_status
  const found: Reason[] = []
  if (request.draft) {
    found.push({
      what: 'It is a draft.',
      who: 'The author or a developer marks it as ready.',
      button: may.edit && <MarkReady request={request} address={address} />,
    })
  }
  if (status === 'not_approved' || (approvals && approvals.approvals_left > 0)) {
    const left = approvals?.approvals_left
    found.push({
      what: left ? `${counted(left, 'approval')} missing.` : 'It is not approved.',
      who: approverText(approvals),
      button: approvals?.user_can_approve && !approvals.user_has_approved && (
        <Approve request={request} address={address} />
      ),
    })
  }
  if (status === 'discussions_not_resolved') {
    found.push({
      what: 'Threads are not resolved.',
      who: 'The author or a developer resolves them below.',
      button: <A href="#threads">Show the threads</A>,
    })
  }
  if (request.has_conflicts || status === 'conflict') {
    found.push({
      what: `It conflicts with ${request.target_branch}.`,
      who: 'Whoever may push to the source branch merges the target into it and resolves them.',
      button: <ConflictsLink address={address} may={may} />,
    })
  }
  if (status === 'need_rebase') {
    found.push({
      what: `${request.target_branch} has moved on.`,
      who: 'Whoever may push to the source branch rebases it.',
      button: may.edit && <Rebase address={address} />,
    })
  }
  const known = reasons[status]
  if (known) found.push(known)
  return found
}

function approverText(approvals: ApprovalData | undefined): string {
  const names = (approvals?.suggested_approvers ?? []).map(({ name }) => name)
  if (names.length === 0) return 'Whoever may approve it.'
  const more = names.length > 5 ? ` and ${names.length - 5} more` : ''
  return `${names.slice(0, 5).join(', ')}${more} can approve it.`
}

interface BlockersProps {
  readonly request: RequestData
  readonly approvals: ApprovalData | undefined
  readonly may: Abilities
  readonly address: string
}

/** Why can't this be merged? Each reason, who can clear it, and the button if it is you. */
export function Blockers({ request, approvals, may, address }: BlockersProps) {
  const found = reasonsOf(request, approvals, may, address)
  if (found.length === 0) {
    return (
      <p class="note">
        <Icon name="check" /> Nothing stands in the way of merging it.
      </p>
    )
  }
  return (
    <section class="box" aria-labelledby="blockers">
      <h2 class="box-head" id="blockers">
        Why can’t this be merged?
      </h2>
      <ul class="list padded">
        {found.map(({ what, who, button }) => (
          <li key={what}>
            <Icon name="alert" />
            <div class="main">
              <strong>{what}</strong>
              <p class="facts">{who}</p>
            </div>
            {button}
          </li>
        ))}
      </ul>
    </section>
  )
}

export function MarkReady({ request, address }: { request: RequestData; address: string }) {
  const title = request.title.replace(/^\s*(?:\[draft\]|\(draft\)|draft:)\s*/i, '')
  return <ButtonForm action={`${address}/update`} fields={{ title }} label="Mark as ready" />
}

export function Approve({ request, address }: { request: RequestData; address: string }) {
  const fields: Record<string, string> = request.sha === null ? {} : { sha: request.sha }
  return <ButtonForm action={`${address}/approve`} fields={fields} label="Approve" kind="primary" />
}

function ConflictsLink({ address, may }: { address: string; may: Abilities }) {
  return (
    <A class="button" href={`${address}/conflicts`}>
      {may.resolve ? 'Resolve the conflicts' : 'Show the conflicts'}
    </A>
  )
}

export function Rebase({ address }: { address: string }) {
  return <ButtonForm action={`${address}/rebase`} label="Rebase" />
}
