import type { ComponentChildren } from 'preact'
import { assetPath } from '../assets.ts'
import { useShown } from '../context.ts'
import { Avatar, Time } from '../parts/basics.tsx'
import { ButtonForm, Form } from '../parts/form.tsx'
import { Icon } from '../parts/icon.tsx'
import type { IconName } from '../parts/icon-names.ts'
import { A } from '../parts/link.tsx'
import { ApiCalls } from './api-calls.tsx'
import { Broadcasts } from './broadcasts.tsx'
import type { Navigation } from './navigation.ts'

interface DocumentProps {
  readonly title: string
  readonly navigation: Navigation
  readonly children: ComponentChildren
}

/** The whole document: head, top of the page, what the page is about, its foot, and the palette. */
export function Document({ title, navigation, children }: DocumentProps) {
  const { basePath, flash } = useShown()
  return (
    <html lang="en" data-base={basePath}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        <link rel="icon" href={`${basePath}/-/assets/favicon`} type="image/svg+xml" />
        <link rel="stylesheet" href={basePath + assetPath('style.css')} />
        <script type="module" src={basePath + assetPath('main.js')} />
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <Top />
        <Broadcasts />
        <SecondFactorNote />
        {flash && (
          <p class={`note ${flash.kind} flash`} role={flash.kind === 'alert' ? 'alert' : 'status'}>
            {flash.text}
          </p>
        )}
        <main id="main" tabIndex={-1}>
          {children}
        </main>
        <footer class="foot">
          <ApiCalls />
          <p>
            <A href="/help">Help</A> · <A href="/-/docs">API reference</A> · Gitstead
          </p>
        </footer>
        <Palette navigation={navigation} />
      </body>
    </html>
  )
}

function Top() {
  const { viewer, address } = useShown()
  return (
    <header class="top">
      <A href="/" class="brand">
        <Icon name="git-merge" /> Gitstead
      </A>
      <Form action="/search" method="get" role="search" class="find">
        <input
          type="search"
          name="search"
          placeholder="Search"
          aria-label="Search"
          data-hotkey="/"
        />
      </Form>
      <nav class="top-links" aria-label="Main">
        <A href="/explore">Explore</A>
        {viewer ? (
          <>
            <A href="/projects/new" aria-label="New project" title="New project">
              <Icon name="plus" />
            </A>
            <details class="menu">
              <summary aria-label={`Account of ${viewer.name}`}>
                <Avatar of={{ name: viewer.name, avatar_url: viewer.avatarUrl }} />
              </summary>
              <div class="menu-list">
                <A href={`/${viewer.username}`}>
                  {viewer.name} <span class="quiet">@{viewer.username}</span>
                </A>
                <A href="/-/user_settings/profile">My account</A>
                <ButtonForm action="/users/sign_out" label="Sign out" kind="quiet" />
              </div>
            </details>
          </>
        ) : (
          <A href={`/users/sign_in?${new URLSearchParams({ return_to: address })}`}>Sign in</A>
        )}
      </nav>
    </header>
  )
}

/** Asks for a second factor while there is time left for it. */
function SecondFactorNote() {
  const { secondFactorBy } = useShown()
  if (secondFactorBy === null) return null
  return (
    <p class="note warning">
      <A href="/-/user_settings/two_factor">Set a second factor up</A> before{' '}
      <Time at={secondFactorBy} />: from then on nothing else is open to you.
    </p>
  )
}

/** Every address that this person may open from here, by typing; `Ctrl K`. Its entries are links of this page. */
function Palette({ navigation }: { navigation: Navigation }) {
  return (
    <dialog id="palette" class="palette" aria-label="Jump to">
      <input
        type="text"
        aria-label="Jump to"
        placeholder="Jump to…"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        autocomplete="off"
      />
      <div id="palette-list" role="listbox" aria-label="Destinations" tabIndex={-1}>
        {navigation.destinations.map(({ label, href, icon }, index) => (
          <A key={href} href={href} role="option" id={`palette-${index}`} aria-selected="false">
            <Icon name={icon as IconName} /> {label}
          </A>
        ))}
        <A
          href="/search"
          role="option"
          id="palette-search"
          aria-selected="false"
          data-search="search"
        >
          <Icon name="search" /> Search for <span>everything</span>
        </A>
      </div>
    </dialog>
  )
}
