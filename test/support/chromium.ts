import { type Browser, chromium } from 'playwright-core'

/** Debian's Chromium; its pages, cookies and settings are those of the contexts that a test opens in it. */
export function openChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
}
