// The program finds libtp at run time where it was found now.
fn main() {
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", std::env::var("DEP_TP_LIBDIR").expect("DEP_TP_LIBDIR"));
}
