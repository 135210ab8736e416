export const STYLES = `
      .by-owner { --by: var(--mark); }
      .by-awardee { --by: light-dark(#1d4ed8, #7fb0ff); }
      .by-parties { --by: light-dark(#7e22ce, #cf9bff); }
      .by-admin { --by: light-dark(#0f766e, #4fd1c0); }
      [hidden] { display: none !important; }
      main { max-width: 1280px; margin: 0 auto; padding: 8px 24px; }
      h1 { display: flex; gap: 16px; align-items: baseline; grid-column: 1 / -1; font-size: 20px; margin: 0; }
      h1 a { font-size: 14px; font-weight: 400; }
      h2 { font-size: 18px; margin: 8px 0; }
      main { display: grid; grid-template-columns: auto minmax(340px, 1fr); gap: 0 40px; }
      .side { position: sticky; top: 12px; align-self: start; }
      .text { grid-column: 1 / -1; }

      svg { display: block; max-width: 100%; height: auto; }
      svg text { font: 12px system-ui, sans-serif; text-anchor: middle; fill: var(--ink); }
      svg .party { fill: var(--by); }
      svg a { cursor: pointer; outline: none; }
      .line { fill: none; stroke: var(--by); stroke-width: 1.5; }
      .plate { fill: var(--paper); }
      .state rect { fill: var(--box); stroke: var(--edge); stroke-width: 1.3; }
      .state.end rect { stroke-width: 3; }
      .mark rect { fill: none; stroke: var(--edge); stroke-dasharray: 4 3; }
      .move:is(:hover, :focus, .shown) .line, .line.open { stroke-width: 3; }
      .move:is(:focus-visible, .shown) .plate { stroke: var(--by); stroke-width: 1.5; }
      .state:is(:hover, :focus, .shown) rect { stroke: var(--mark); stroke-width: 2.5; }
      .state[aria-current] rect { fill: var(--mark); }
      .state[aria-current] text { fill: var(--paper); font-weight: 700; }
      .located .move:not(.may, :hover, :focus, .shown) { opacity: 0.45; }

      #words, #yours { background: var(--card); border: 1px solid var(--line); border-radius: 9px; padding: 8px 16px; }
      #words { height: 300px; overflow: auto; margin-bottom: 16px; }
      .hint { flex-basis: 100%; color: var(--faint); margin: 4px 0; }
      form { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: end; margin: 10px 0; }
      form label { display: grid; flex: 1 1 150px; min-width: 0; font-size: 13px; color: var(--faint); }
      input, select, button {
        font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--edge); border-radius: 6px;
        padding: 5px 10px; min-width: 0; max-width: 100%;
      }
      form :is(input, select, button) { min-height: 36px; }
      form button { color: var(--mark); }
      #where :is(h3, ul) { font-size: 15px; margin: 8px 0 2px; }
      #problem { color: var(--mark); }

      tr, th, td { display: block; text-align: left; }
      tr { border-bottom: 1px solid var(--line); padding: 8px 0; font-size: 14px; }
      th::first-letter { text-transform: uppercase; }
      td[data-head] { display: grid; grid-template-columns: 7em 1fr; }
      td::before { content: attr(data-head); color: var(--faint); }
      .text table { display: block; }
      .text tbody { display: grid; grid-template-columns: repeat(auto-fill, minmax(320px, 1fr)); gap: 0 32px; }
      #words tr { border: 0; padding: 0; }

      @media (max-width: 1000px) {
        main { display: block; padding: 0; }
        h1 { padding: 4px 16px; line-height: 1.3; }
        .side { display: contents; }
        .picture svg { margin: 0 auto; }
        #words { height: auto; max-height: 40vh; }
        /* The text about a state or a step stays in view, and never covers the element it describes. */
        #words:has(table) { position: sticky; bottom: 8px; }
        html:has(#words table) { scroll-padding-bottom: calc(40vh + 16px); }
        #words, #yours, .text { margin: 12px 16px; }
      }
`;
