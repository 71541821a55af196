/* The page without a document: one drops a recording, or the JSON of a timeline, and sees it. Nothing leaves the browser. */
import { make } from "../common/dom";
import { load, said, type Loaded } from "./load";

export function dropPlace(place: HTMLElement, show: (loaded: Loaded) => void): void {
	const input = make("input", "");
	const label = make("label", "", "Or choose a file: ", input);
	const error = make("p", "error");
	const box = make(
		"div",
		"drop",
		make("h1", "", "sonde timeline"),
		make("p", "", "Drop a recording (.sonde) or what sonde timeline --json wrote. It stays in this browser: the page can't send anything."),
		make("p", "", "Of a recording it shows the processes that a sample saw; sonde timeline -o shows those between two samples too, and the chain that set the time."),
		make("p", "", label),
		error,
	);

	async function take(file: File | undefined): Promise<void> {
		error.textContent = "";
		if (!file)
			return;
		try {
			const loaded = load(new Uint8Array(await file.arrayBuffer()));

			box.remove();
			show(loaded);
		} catch (wrong) {
			const line = said(wrong);

			if (line === null)
				throw wrong;
			error.textContent = `${file.name}: ${line}`;
		}
	}

	input.type = "file";
	error.setAttribute("role", "alert");
	input.addEventListener("change", () => {
		void take(input.files?.[0]);
		input.value = ""; /* so that the same one, written anew, is another */
	});
	place.addEventListener("dragover", (event) => {
		event.preventDefault();
		box.classList.add("over");
	});
	place.addEventListener("dragleave", () => box.classList.remove("over"));
	place.addEventListener("drop", (event) => {
		event.preventDefault();
		box.classList.remove("over");
		void take(event.dataTransfer?.files[0]);
	});
	place.append(box);
}
