type Start = (root: ParentNode) => void

/**
 * Keeps parts of an open page up to date: the page names one address of events (`data-live` on an element), and each part
 * that may change has an id and its own address (`data-live-src`). An event holds the ids of parts that changed. A page that
 * nobody looks at follows nothing: a browser has few connections for each server.
 */
export function followLive(start: Start): void {
  const address = document.querySelector<HTMLElement>('[data-live]')?.dataset.live
  if (address === undefined) return
  let events: EventSource | undefined
  let seen = ''
  const follow = () => {
    if (document.hidden || events) return
    events = new EventSource(seen === '' ? address : address.replace(/seen=[^&]*/, `seen=${seen}`))
    events.addEventListener('changed', ({ data, lastEventId }: MessageEvent<string>) => {
      seen = lastEventId
      for (const id of data.split(' ')) void renew(id, start)
    })
  }
  const leave = () => {
    events?.close()
    events = undefined
  }
  document.addEventListener('visibilitychange', () => (document.hidden ? leave() : follow()))
  window.addEventListener('pagehide', leave)
  window.addEventListener('pageshow', follow)
  follow()
}

async function renew(id: string, start: Start): Promise<void> {
  const part = document.getElementById(id)
  const address = part?.dataset.liveSrc
  if (!part || address === undefined) return
  const response = await fetch(address, { headers: { Accept: 'text/html' } })
  if (!response.ok) return
  const html = await response.text()
  // Whoever writes in it keeps what they wrote, and sees the rest when they send it.
  if (isWritten(part)) return
  part.innerHTML = html
  start(part)
}

function isWritten(part: HTMLElement): boolean {
  const fields = [
    ...part.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('textarea, input'),
  ]
  const isIn = fields.some((field) => field === document.activeElement)
  return isIn || fields.some(({ value, defaultValue }) => value !== defaultValue)
}
