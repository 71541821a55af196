/* The page of a timeline: draws the document that is embedded in it; without one it is the page that one drops a recording on. */
import { embedded, make } from "../common/dom";
import { parseExact } from "../common/json";
import { parseTimeline } from "./document";
import { dropPlace } from "./drop";
import { said, type Loaded } from "./load";
import { Viewer } from "./viewer";

function show(place: HTMLElement, { timeline, problems }: Loaded): void {
	document.title = `${timeline.meta.label || timeline.meta.host}: sonde timeline`;
	for (const problem of problems)
		place.append(make("p", "problem", problem));
	new Viewer(timeline, place);
}

function start(place: HTMLElement): void {
	try {
		const value = embedded(parseExact);

		if (value === null)
			dropPlace(place, (loaded) => show(place, loaded));
		else
			show(place, { timeline: parseTimeline(value), problems: [] });
	} catch (error) {
		const line = said(error);

		if (line === null)
			throw error;
		place.append(make("p", "drop error", `This page is damaged: ${line}`));
	}
}

const place = document.getElementById("timeline");
if (place)
	start(place);
